import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../domain/item.js';
import { UndecodableError } from './decode-error.js';
import type { JsonCheck } from './json-check.js';

/** What is known of an item before its bytes: how the sink finds out what it is, and what to watch for. */
export interface ItemPlan {
  identify(beginning: Buffer, whole: boolean): ItemIdentity;
  readonly json?: JsonCheck;
  /** Whether broken JSON makes the delivery undecodable; asked when it turns out broken. */
  mustBeJson?(): boolean;
}

/** Hands one item's bytes to the sink, having looked at them first. */
export class PlannedItem {
  readonly #plan: ItemPlan;
  readonly #item: IncomingItem;
  bytes = 0;

  constructor(sink: ItemSink, plan: ItemPlan, details: Omit<ItemDescription, 'identify'>) {
    this.#plan = plan;
    this.#item = sink.open({ ...details, identify: (beginning, whole) => plan.identify(beginning, whole) });
  }

  /** A promise only when the sink asks to wait. */
  write(chunk: Buffer): Promise<void> | undefined {
    this.bytes += chunk.length;
    if (this.#plan.json?.push(chunk) === false) this.#refuseIfJson();
    return this.#item.write(chunk);
  }

  /** Throws, as `write` does, what makes the delivery undecodable. */
  end(): Promise<void> {
    if (this.#plan.json?.finish() === false) this.#refuseIfJson();
    return this.#item.end();
  }

  #refuseIfJson(): void {
    if (this.#plan.mustBeJson?.())
      throw new UndecodableError('json-invalid', 'A JSON document does not parse.');
  }
}
