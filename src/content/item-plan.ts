import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../domain/item.js';
import { UndecodableError } from './decode-error.js';
import type { JsonCheck } from './json-check.js';

/** How to identify an item, and whether to check it as JSON, decided before its bytes arrive. */
export interface ItemPlan {
  identify(beginning: Buffer, whole: boolean): ItemIdentity;
  readonly json?: JsonCheck | undefined;
  /** Whether invalid JSON makes the delivery undecodable; called when it turns out to be invalid. */
  mustBeJson?(): boolean;
}

/** Checks one item's bytes and passes them to the sink, for which it is also their description. */
export class PlannedItem implements ItemDescription {
  readonly fileName: string | undefined;
  readonly expectedBytes: number | undefined;
  readonly #plan: ItemPlan;
  readonly #item: IncomingItem;
  bytes = 0;

  constructor(sink: ItemSink, plan: ItemPlan, details: Omit<ItemDescription, 'identify' | 'standsIn'>) {
    this.fileName = details.fileName;
    this.expectedBytes = details.expectedBytes;
    this.#plan = plan;
    this.#item = sink.open(this);
  }

  identify(beginning: Buffer, whole: boolean): ItemIdentity {
    return this.#plan.identify(beginning, whole);
  }

  write(chunk: Buffer): Promise<void> {
    this.bytes += chunk.length;
    if (this.#plan.json?.push(chunk) === false) this.#refuseIfJson();
    return this.#item.write(chunk);
  }

  /** Throws UndecodableError, as `write` does. */
  end(): Promise<void> {
    if (this.#plan.json?.finish() === false) this.#refuseIfJson();
    return this.#item.end();
  }

  #refuseIfJson(): void {
    if (this.#plan.mustBeJson?.())
      throw new UndecodableError('json-invalid', 'A JSON document does not parse.');
  }
}
