import type { DeliveryShape } from '../../domain/delivery.js';
import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../../domain/item.js';
import {
  checkOf,
  ITEM_KINDS,
  type ItemKind,
  identityOf,
  isJsonKind,
  kindOfToken,
  textBeginning,
  textKindOfType,
} from '../../domain/kinds.js';
import { attachmentName } from './attachment-name.js';
import { UndecodableError } from './decode-error.js';
import { JsonCheck } from './json-check.js';
import { isJson, type MediaType, recordedType, storableType } from './media-type.js';
import type { PartHead } from './part-head.js';

/** How to identify an item, and whether to check it as JSON. Decided before its bytes arrive. */
export interface ItemPlan {
  identify(beginning: Buffer, whole: boolean): ItemIdentity;
  readonly json?: JsonCheck | undefined;
  /** Whether invalid JSON makes the delivery undecodable. Called when the JSON is invalid. */
  mustBeJson?(): boolean;
}

/** Checks one item's bytes and passes them to the sink. */
export class PlannedItem {
  readonly #plan: ItemPlan;
  readonly #item: IncomingItem;
  bytes = 0;

  constructor(
    sink: ItemSink,
    plan: ItemPlan,
    { fileName, expectedBytes }: Pick<ItemDescription, 'fileName' | 'expectedBytes'>,
  ) {
    this.#plan = plan;
    this.#item = sink.open({
      identify: (beginning, whole) => plan.identify(beginning, whole),
      fileName,
      expectedBytes,
    });
  }

  /** @throws UndecodableError */
  write(chunk: Buffer): Promise<void> {
    this.bytes += chunk.length;
    if (this.#plan.json?.push(chunk) === false) this.#refuseIfJson();
    return this.#item.write(chunk);
  }

  /** @throws UndecodableError */
  end(): Promise<void> {
    if (this.#plan.json?.finish() === false) this.#refuseIfJson();
    return this.#item.end();
  }

  #refuseIfJson(): void {
    if (this.#plan.mustBeJson?.())
      throw new UndecodableError('json-invalid', 'A JSON document does not parse.');
  }
}

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

/** Uses the kind in `contents` if that names exactly one kind of text; else the beginning of the text decides, then its content type. */
function textPlan(contents: readonly string[], kindOfType: ItemKind): ItemPlan {
  const named = new Set(
    contents
      .map((token) => kindOfToken(token.trim()))
      .filter((kind) => kind !== null && checkOf(kind) === 'text'),
  );
  const [only] = named.size === 1 ? named : [];
  return { identify: (beginning) => identityOf(only ?? kindByBeginning(beginning) ?? kindOfType) };
}

const BEGINNING_BYTES = 128;

/** The kind of text, such as subtitles, that has this beginning; null for every other text. */
function kindByBeginning(beginning: Buffer): ItemKind | null {
  return ITEM_KINDS.find((kind) => beginsLike(kind, beginning)) ?? null;
}

/** Whether a kind has a characteristic beginning, and the text begins with it. */
export function beginsLike(kind: ItemKind, beginning: Buffer): boolean {
  return textBeginning(kind)?.test(beginning.toString('latin1', 0, BEGINNING_BYTES)) ?? false;
}

/** Whether the name of a part is defined by the interface; every other name is the sender's own. */
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

/** A part whose name is defined by the interface. */
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
 * A part with an unknown name. A part that is too large to buffer is identified by its beginning. If it was identified as a transcript,
 * invalid JSON makes the delivery undecodable; otherwise a part with invalid JSON is an attachment.
 */
class UnknownPart implements ItemPlan {
  readonly json = new JsonCheck();
  readonly #head: PartHead;
  #identifiedEarly = false;

  constructor(head: PartHead) {
    this.#head = head;
  }

  mustBeJson(): boolean {
    return this.#identifiedEarly;
  }

  identify(beginning: Buffer, whole: boolean): ItemIdentity {
    const { json } = this;
    if (whole ? !json.failed && json.looksLikeTranscript : json.mayBeTranscript) {
      this.#identifiedEarly = !whole;
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

/** RFC 2045. Any other value is free text of the sender. */
const TRANSFER_ENCODINGS = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);

/**
 * The data of a part that the ledger may keep: only names of the interface, never file names, because the ledger lines of an erased
 * job stay.
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
