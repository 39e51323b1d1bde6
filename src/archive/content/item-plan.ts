import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../../domain/item.js';
import { type ItemKind, KINDS } from '../../domain/kinds.js';
import { UndecodableError } from './decode-error.js';
import type { JsonCheck } from './json-check.js';

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

  async write(chunk: Buffer): Promise<void> {
    this.bytes += chunk.length;
    if (this.#plan.json?.push(chunk) === false) this.#refuseIfJson();
    return this.#item.write(chunk);
  }

  /** Rejects with UndecodableError, as `write` does. */
  async end(): Promise<void> {
    if (this.#plan.json?.finish() === false) this.#refuseIfJson();
    return this.#item.end();
  }

  #refuseIfJson(): void {
    if (this.#plan.mustBeJson?.())
      throw new UndecodableError('json-invalid', 'A JSON document does not parse.');
  }
}
