import type { IncomingItem, ItemDescription, ItemSink, Origin, StoredItem } from '../domain/item.js';
import type { BufferPool } from '../store/buffer-pool.js';
import type { ByteBudget } from '../store/byte-budget.js';
import type { ObjectStore } from '../store/object-store.js';
import { commitItem } from './commit-item.js';
import { openStreamTarget } from './open-stream-target.js';
import type { Memory } from './part-buffer.js';
import { StagedItem } from './staged-item.js';

/** Where a delivery's artefacts come from; becomes their key and metadata. */
export interface ArtefactContext {
  readonly deliveryId: string;
  readonly jobId: string;
  readonly status: string | null;
  readonly source: string;
  readonly region: string | null;
  readonly origin: Origin;
  readonly receivedAt: string;
  /** The source's own prefix: empty, or ending in `/`. */
  readonly keyPrefix: string;
}

/**
 * The archive of all jobs. First write wins: nothing is overwritten, nothing is dropped, and nothing of a
 * delivery is visible before `commit`.
 */
export interface Archive {
  /** @param expectedBytes size of the whole delivery as far as its sender says: lets buffers be sized right at once */
  begin(context: ArtefactContext, expectedBytes?: number | null): StagedDelivery;
}

/**
 * A delivery on its way into the archive. Items are opened and ended one after the other; then either
 * `commit` or `discard` is called, once, which also gives all memory back.
 */
export interface StagedDelivery extends ItemSink {
  /**
   * Calls `release` before this delivery waits for memory: whatever it merely keeps (such as the raw body
   * kept for quarantine) is to be let go then.
   */
  beforeWaiting(release: () => void): void;
  /** Takes bytes of the budget on behalf of this delivery, if that needs no waiting; `giveBack` returns them. */
  tryKeep(bytes: number): boolean;
  giveBack(bytes: number): void;
  /**
   * Makes the items visible. Resolves when all are durable and proven so.
   * Rejects with `StoreError` (the sender should come again; what is stored by then will be identical), or
   * with a `write-race` Problem when another delivery streamed different bytes to the same key meanwhile.
   */
  commit(): Promise<StoredItem[]>;
  /** True once it was committed or discarded. */
  readonly settled: boolean;
  /** Gives up: nothing more becomes visible, uploads are aborted. Nothing to do once settled. Never throws. */
  discard(): Promise<void>;
}

export interface ArchiveParts {
  readonly store: ObjectStore;
  readonly budget: ByteBudget;
  readonly pool: BufferPool;
}

/** Small items of one delivery that are written at once. */
const WRITES_AT_ONCE = 4;

export function createArchive(parts: ArchiveParts): Archive {
  return { begin: (context, expectedBytes) => new Staging(parts, context, expectedBytes ?? 0) };
}

class Staging implements StagedDelivery {
  readonly #parts: ArchiveParts;
  readonly #context: ArtefactContext;
  readonly #expectedBytes: number;
  readonly #memory: Memory;
  readonly #items: StagedItem[] = [];
  /** Keys that streamed items of this delivery go to. */
  readonly #claimed = new Set<string>();
  #release: (() => void) | null = null;
  #settled = false;

  constructor(parts: ArchiveParts, context: ArtefactContext, expectedBytes: number) {
    this.#expectedBytes = expectedBytes;
    this.#parts = parts;
    this.#context = context;
    const lease = parts.budget.lease();
    this.#memory = {
      pool: parts.pool,
      lease,
      take: (bytes) => (lease.tryTake(bytes) ? undefined : this.#waitFor(bytes)),
    };
  }

  get settled(): boolean {
    return this.#settled;
  }

  beforeWaiting(release: () => void): void {
    this.#release = release;
  }

  tryKeep(bytes: number): boolean {
    return this.#memory.lease.tryTake(bytes);
  }

  giveBack(bytes: number): void {
    this.#memory.lease.give(bytes);
  }

  open(description: ItemDescription): IncomingItem {
    const item = new StagedItem(description, this.#memory, {
      partSize: this.#parts.store.partSize,
      expectedBytes: this.#expectedBytes,
      openStream: (identity, sha256) =>
        openStreamTarget(
          this.#parts.store,
          this.#context,
          { identity, sha256, fileName: description.fileName },
          this.#claimed,
        ),
    });
    this.#items.push(item);
    return item;
  }

  async commit(): Promise<StoredItem[]> {
    try {
      const stored = await this.#commitAll();
      this.#settled = true;
      return stored;
    } catch (error) {
      await this.discard();
      throw error;
    } finally {
      this.#close();
    }
  }

  async discard(): Promise<void> {
    if (this.#settled) return;
    this.#settled = true;
    this.#memory.lease.close();
    await Promise.all(this.#items.map((item) => item.discard()));
  }

  /** Streamed items first: only they can lose a race, and then nothing small has become visible yet. */
  async #commitAll(): Promise<StoredItem[]> {
    const [only, ...others] = this.#items;
    if (only === undefined) return [];
    if (others.length === 0) return [await commitItem(this.#parts.store, this.#context, only, false)];
    const outcomes = new Map<StagedItem, StoredItem>();
    const written = new Set<string>();
    const commit = async (item: StagedItem) => {
      const repeated = written.has(item.path);
      written.add(item.path);
      outcomes.set(item, await commitItem(this.#parts.store, this.#context, item, repeated));
    };
    const [streamed, held] = [
      this.#items.filter(isStreamed),
      this.#items.filter((item) => !isStreamed(item)),
    ];
    for (const item of streamed) await commit(item);
    for (const group of groupsOfDistinctPaths(held)) await allEnded(group.map(commit));
    return this.#items.flatMap((item) => outcomes.get(item) ?? []);
  }

  async #waitFor(bytes: number): Promise<void> {
    this.#release?.();
    for (const item of this.#items) await item.spill();
    await this.#memory.lease.take(bytes);
  }

  #close(): void {
    for (const item of this.#items) item.release();
    this.#memory.lease.close();
  }
}

/**
 * Waits for all, then throws what the first of them failed with. A refusal is answered only when nothing of the delivery
 * is under way any more: nothing of it becomes visible afterwards.
 */
async function allEnded(writes: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(writes)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

function isStreamed(item: StagedItem): boolean {
  return item.target !== null;
}

/** Items that repeat a path go one after the other, so that the first of them is the one that wins. */
function groupsOfDistinctPaths(items: readonly StagedItem[]): StagedItem[][] {
  const groups: StagedItem[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    const fits =
      last !== undefined && last.length < WRITES_AT_ONCE && last.every((other) => other.path !== item.path);
    if (fits) last.push(item);
    else groups.push([item]);
  }
  return groups;
}
