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
  return kind === undefined ? new UnknownPart(head) : new KnownPart(kind, head);
}

/** A part whose name is one of the interface. */
class KnownPart implements ItemPlan {
  readonly json: JsonCheck | undefined;
  readonly #kind: ItemKind;
  readonly #head: PartHead;

  constructor(kind: ItemKind, head: PartHead) {
    this.#kind = kind;
    this.#head = head;
    this.json = kind === 'transcript.json-v2' || kind === 'jobinfo' ? new JsonCheck() : undefined;
  }

  mustBeJson(): boolean {
    return true;
  }

  identify(): ItemIdentity {
    return this.#kind === 'data'
      ? identityOf('data', storableType(this.#head.contentType ?? null))
      : identityOf(this.#kind);
  }
}

/**
 * A part with an unknown name. A part that grows too large to hold back is identified by its beginning. If that was a
 * transcript, it has to remain one: invalid JSON is undecodable then, and an attachment before.
 */
class UnknownPart implements ItemPlan {
  readonly json = new JsonCheck();
  readonly #head: PartHead;
  #committed = false;

  constructor(head: PartHead) {
    this.#head = head;
  }

  mustBeJson(): boolean {
    return this.#committed;
  }

  identify(beginning: Buffer, whole: boolean): ItemIdentity {
    const { json } = this;
    if (whole ? !json.failed && json.looksLikeTranscript : json.mayBeTranscript) {
      this.#committed = !whole;
      return identityOf('transcript.json-v2');
    }
    if (looksLikeSrt(beginning)) return identityOf('transcript.srt');
    const { name, fileName, contentType } = this.#head;
    return {
      kind: 'attachment',
      contentType: storableType(contentType ?? null),
      attachmentName: attachmentName(name, fileName),
      ...(name === null ? {} : { partName: name }),
    };
  }
}
