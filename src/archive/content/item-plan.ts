import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../../domain/item.js';
import { checkOf, type ItemKind, KINDS, kindOfToken, textKindOfType } from '../../domain/kinds.js';
import { UndecodableError } from './decode-error.js';
import { JsonCheck } from './json-check.js';
import { kindByBeginning } from './kind-by-beginning.js';
import { isJson, type MediaType, storableType } from './media-type.js';

/** The identity of a kind. `senderType` is used for kinds without a fixed content type. */
export function identityOf(kind: ItemKind, senderType = 'application/octet-stream'): ItemIdentity {
  return { kind, contentType: KINDS[kind].mediaType ?? senderType };
}

/** How to identify an item, and whether to check it as JSON, decided before its bytes arrive. */
export interface ItemPlan {
  identify(beginning: Buffer, whole: boolean): ItemIdentity;
  readonly json?: JsonCheck | undefined;
  /** Whether invalid JSON makes the delivery undecodable; called when it turns out to be invalid. */
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
