import type { ItemIdentity, ItemKind } from '../domain/item.js';
import { attachmentName } from './attachment-name.js';
import { identityOf } from './item-identity.js';
import type { ItemPlan } from './item-plan.js';
import { JsonCheck } from './json-check.js';
import { storableType } from './media-type.js';
import type { PartHead } from './part-head.js';
import { looksLikeSrt } from './srt-check.js';

/** Part names equal the tokens of `contents`; `:` for `.` occurs. */
const KINDS_BY_NAME: ReadonlyMap<string, ItemKind> = new Map([
  ['transcript', 'transcript.json-v2'],
  ['transcript.json-v2', 'transcript.json-v2'],
  ['transcript.txt', 'transcript.txt'],
  ['transcript.srt', 'transcript.srt'],
  ['jobinfo', 'jobinfo'],
  ['data', 'data'],
]);

/** Whether the name of a part is one of the interface; every other name is the sender's own. */
export function isKnownPartName(name: string | null): boolean {
  const normal = normalName(name);
  return KINDS_BY_NAME.has(normal) || normal === LEGACY_NAME;
}

/** The name of a transcript's part when the job does not set `contents`. */
const LEGACY_NAME = 'data_file';

function normalName(name: string | null): string {
  return (name ?? '').toLowerCase().replaceAll(':', '.');
}

/** Identifies a part: by its name, else by its content, else as an attachment. */
export function partPlan(head: PartHead): ItemPlan {
  const kind = KINDS_BY_NAME.get(normalName(head.name));
  if (kind === undefined) return unknownPlan(head);
  const identity = identityOf(kind, storableType(head.contentType ?? null));
  const identify = () => identity;
  if (kind !== 'transcript.json-v2' && kind !== 'jobinfo') return { identify };
  return { identify, json: new JsonCheck(), mustBeJson: () => true };
}

/**
 * A part with an unknown name. A part that grows too large to hold back is identified by its beginning. If that was a
 * transcript, it has to remain one: invalid JSON is undecodable then, and an attachment before.
 */
function unknownPlan(head: PartHead): ItemPlan {
  const json = new JsonCheck();
  let committed = false;
  const identify = (beginning: Buffer, whole: boolean): ItemIdentity => {
    if (whole ? !json.failed && json.looksLikeTranscript : json.mayBeTranscript) {
      committed = !whole;
      return identityOf('transcript.json-v2');
    }
    if (looksLikeSrt(beginning)) return identityOf('transcript.srt');
    const contentType = storableType(head.contentType ?? null);
    const named = head.name === null ? {} : { partName: head.name };
    return {
      kind: 'attachment',
      contentType,
      attachmentName: attachmentName(head.name, head.fileName),
      ...named,
    };
  };
  return { json, mustBeJson: () => committed, identify };
}
