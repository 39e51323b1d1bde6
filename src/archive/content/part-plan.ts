import type { DeliveryShape } from '../../domain/delivery.js';
import type { ItemIdentity } from '../../domain/item.js';
import { type ItemKind, isJsonKind, kindOfToken } from '../../domain/kinds.js';
import { attachmentName } from './attachment-name.js';
import { type ItemPlan, identityOf } from './item-plan.js';
import { JsonCheck } from './json-check.js';
import { kindByBeginning } from './kind-by-beginning.js';
import { recordedType, storableType } from './media-type.js';
import type { PartHead } from './part-head.js';

/** Whether the name of a part is one of the interface; every other name is the sender's own. */
function isKnownPartName(name: string | null): boolean {
  return name !== null && (kindOfToken(name) !== null || name.toLowerCase() === LEGACY_NAME);
}

/** The name of a transcript's part when the job does not set `contents`. */
const LEGACY_NAME = 'data_file';

/** Identifies a part: by its name, else by its content, else as an attachment. */
export function partPlan(head: PartHead): ItemPlan {
  const kind = head.name === null ? null : kindOfToken(head.name);
  return kind === null ? new UnknownPart(head) : new KnownPart(kind, head);
}

/** A part whose name is one of the interface. */
class KnownPart implements ItemPlan {
  readonly json: JsonCheck | undefined;
  readonly #kind: ItemKind;
  readonly #head: PartHead;

  constructor(kind: ItemKind, head: PartHead) {
    this.#kind = kind;
    this.#head = head;
    this.json = isJsonKind(kind) ? new JsonCheck() : undefined;
  }

  mustBeJson(): boolean {
    return true;
  }

  identify(): ItemIdentity {
    return identityOf(this.#kind, storableType(this.#head.contentType ?? null));
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
    const kind = kindByBeginning(beginning);
    if (kind !== null) return identityOf(kind);
    const { name, fileName, contentType } = this.#head;
    return {
      kind: 'attachment',
      contentType: storableType(contentType ?? null),
      attachmentName: attachmentName(name, fileName),
      ...(name === null ? {} : { partName: name }),
    };
  }
}

/** A part as the ledger records it. */
export type PartShape = NonNullable<DeliveryShape['parts']>[number];

/** RFC 2045. Any other value is free text of the sender's. */
const TRANSFER_ENCODINGS = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);

/**
 * What the ledger may keep of a part: names of the interface only, never file names. Erasing a job removes its objects, but
 * its ledger lines stay.
 */
export function partShape({ name, contentType, transferEncoding }: PartHead, bytes: number): PartShape {
  return {
    name: isKnownPartName(name) ? name : null,
    ...(contentType === undefined ? {} : { contentType: recordedType(contentType) }),
    ...(transferEncoding === undefined ? {} : { transferEncoding: knownEncoding(transferEncoding) }),
    bytes,
  };
}

function knownEncoding(transferEncoding: string): string {
  const encoding = transferEncoding.trim().toLowerCase();
  return TRANSFER_ENCODINGS.has(encoding) ? encoding : 'other';
}
