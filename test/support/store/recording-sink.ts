import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../../../src/domain/item.js';

export interface RecordedItem {
  readonly description: ItemDescription;
  identity: ItemIdentity | null;
  bytes: Buffer;
  ended: boolean;
}

export interface SinkHabits {
  /** Bytes after which an item is asked what it is although it goes on. */
  readonly identifyAfter?: number;
  /** Called before each chunk is taken; what it throws or returns is the sink's answer. */
  readonly onWrite?: (item: RecordedItem, chunk: Buffer) => Promise<void> | undefined;
  readonly onEnd?: (item: RecordedItem) => Promise<void>;
}

/** Keeps every item in memory and asks for identities as the archive does. */
export class RecordingSink implements ItemSink {
  readonly items: RecordedItem[] = [];
  readonly #habits: SinkHabits;

  constructor(habits: SinkHabits = {}) {
    this.#habits = habits;
  }

  open(description: ItemDescription): IncomingItem {
    const item: RecordedItem = { description, identity: null, bytes: Buffer.alloc(0), ended: false };
    const chunks: Buffer[] = [];
    let size = 0;
    this.items.push(item);
    return {
      write: (chunk) => {
        const wait = this.#habits.onWrite?.(item, chunk);
        // As the archive does: what was taken is not looked at again in the sender's buffer.
        chunks.push(Buffer.from(chunk));
        size += chunk.length;
        if (item.identity === null && size > (this.#habits.identifyAfter ?? Number.POSITIVE_INFINITY)) {
          item.identity = description.identify(Buffer.concat(chunks), false);
        }
        return wait;
      },
      end: async () => {
        item.bytes = Buffer.concat(chunks);
        item.identity ??= description.identify(item.bytes, true);
        await this.#habits.onEnd?.(item);
        item.ended = true;
      },
    };
  }
}
