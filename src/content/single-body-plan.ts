import type { ItemIdentity } from '../domain/item.js';
import { identityOf } from './item-identity.js';
import type { ItemPlan } from './item-plan.js';
import { JsonCheck } from './json-check.js';
import { isJson, type MediaType, storableType } from './media-type.js';
import { looksLikeSrt } from './srt-check.js';

/** Identifies a body that is not multipart: by its content type, then by its shape (docs/answers.md). */
export function singleBodyPlan(
  type: MediaType,
  contentType: string | null,
  contents: readonly string[],
): ItemPlan {
  if (isJson(type)) return new JsonPlan();
  if (type.essence === 'text/plain') return textPlan(contents);
  const identity = identityOf('data', storableType(contentType));
  return { identify: () => identity };
}

class JsonPlan implements ItemPlan {
  readonly json = new JsonCheck();

  mustBeJson(): boolean {
    return true;
  }

  identify(_beginning: Buffer, whole: boolean): ItemIdentity {
    const isTranscript = whole ? this.json.looksLikeTranscript : this.json.mayBeTranscript;
    return identityOf(isTranscript ? 'transcript.json-v2' : 'jobinfo');
  }
}

function textPlan(contents: readonly string[]): ItemPlan {
  const tokens = contents.map((token) => token.trim().toLowerCase().replaceAll(':', '.'));
  const srt = tokens.includes('transcript.srt');
  const txt = tokens.includes('transcript.txt');
  if (srt !== txt) return { identify: () => identityOf(srt ? 'transcript.srt' : 'transcript.txt') };
  return {
    identify: (beginning) => identityOf(looksLikeSrt(beginning) ? 'transcript.srt' : 'transcript.txt'),
  };
}
