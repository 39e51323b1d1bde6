import type { IncomingItem, ItemDescription, ItemIdentity, ItemSink } from '../../../src/domain/item.js';

export interface RecordedItem {
  readonly description: ItemDescription;
  identity: ItemIdentity | null;
  bytes: Buffer;
  ended: boolean;
}

export interface RecordingSinkOptions {
  /** Bytes after which an item is identified before its end. */
  readonly identifyAfter?: number;
  /** Called before each chunk is accepted; `write` throws or returns the same. */
  readonly onWrite?: (item: RecordedItem, chunk: Buffer) => Promise<void> | undefined;
  readonly onEnd?: (item: RecordedItem) => Promise<void>;
}

/** Keeps every item in memory and asks for identities as the archive does. */
export class RecordingSink implements ItemSink {
  readonly items: RecordedItem[] = [];
  readonly #options: RecordingSinkOptions;

  constructor(options: RecordingSinkOptions = {}) {
    this.#options = options;
  }

  open(description: ItemDescription): IncomingItem {
    const item: RecordedItem = { description, identity: null, bytes: Buffer.alloc(0), ended: false };
    const chunks: Buffer[] = [];
    let size = 0;
    this.items.push(item);
    return {
      write: async (chunk) => {
        const wait = this.#options.onWrite?.(item, chunk);
        // Like the archive, which copies each chunk and does not read the sender's buffer again.
        chunks.push(Buffer.from(chunk));
        size += chunk.length;
        if (item.identity === null && size > (this.#options.identifyAfter ?? Number.POSITIVE_INFINITY)) {
          item.identity = description.identify(Buffer.concat(chunks), false);
        }
        await wait;
      },
      end: async () => {
        item.bytes = Buffer.concat(chunks);
        item.identity ??= description.identify(item.bytes, true);
        await this.#options.onEnd?.(item);
        item.ended = true;
      },
    };
  }
}
