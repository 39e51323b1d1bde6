import type { ItemIdentity } from '../../domain/item.js';
import { checkOf, type ItemKind, kindOfToken, textKindOfType } from '../../domain/kinds.js';
import type { ItemPlan } from './item-plan.js';
import { identityOf } from './item-plan.js';
import { JsonCheck } from './json-check.js';
import { kindByBeginning } from './kind-by-beginning.js';
import { isJson, type MediaType, storableType } from './media-type.js';

/** Identifies a body that is not multipart: by its content type, then by its shape (docs/answers.md). */
export function singleBodyPlan(
  type: MediaType,
  contentType: string | null,
  contents: readonly string[],
): ItemPlan {
  if (isJson(type)) return new JsonPlan();
  const textKind = textKindOfType(type.essence);
  if (textKind !== null) return textPlan(contents, textKind);
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

/** A text is what `contents` names when it names one kind of text only; else its beginning decides, then its content type. */
function textPlan(contents: readonly string[], kindOfType: ItemKind): ItemPlan {
  const named = new Set(
    contents
      .map((token) => kindOfToken(token.trim()))
      .filter((kind) => kind !== null && checkOf(kind) === 'text'),
  );
  const [only] = named;
  return {
    identify: (beginning) =>
      identityOf(named.size === 1 && only ? only : (kindByBeginning(beginning) ?? kindOfType)),
  };
}
