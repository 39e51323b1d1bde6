import type { IncomingItem, ItemDescription, ItemSink, StoredItem } from '../domain/item.js';
import type { Problem } from '../domain/problem.js';
import type { BudgetLease, Discardable } from '../lib/memory/budget-lease.js';
import type { BufferPool } from '../lib/memory/buffer-pool.js';
import type { ByteBudget } from '../lib/memory/byte-budget.js';
import type { Memory } from '../lib/memory/part-buffer.js';
import type { ObjectStore } from '../store/object-store.js';
import { commitBuffered, commitStreamed } from './commit-item.js';
import { isErased } from './erasure/erasure.js';
import { purgeArtefacts } from './erasure/purge-artefacts.js';
import type { ArtefactContext } from './layout.js';
import { openStreamTarget } from './open-stream-target.js';
import { StagedItem, type StagingRules } from './staged-item.js';

/** Options of receiving a delivery. */
export interface Reception {
  /** Size of the whole delivery as announced by the sender, so that buffers have the right size from the start. */
  readonly expectedBytes?: number | null;
  /** Milliseconds to wait for the first byte of memory, after which an `overloaded` Problem is thrown. Default: no time-out. */
  readonly firstByteTimeout?: number;
}

export type Archive = ReturnType<typeof createArchive>;

/** Buffered items of one delivery that are written concurrently. */
const MAX_CONCURRENT_WRITES = 4;

/**
 * The archive of all jobs. First write wins: nothing is overwritten, nothing is dropped, and nothing of a delivery is
 * visible before `commit`.
 */
export function createArchive(store: ObjectStore, budget: ByteBudget, pool: BufferPool) {
  return {
    begin(
      context: ArtefactContext,
      { expectedBytes = null, firstByteTimeout }: Reception = {},
    ): StagedDelivery {
      const lease = budget.lease({ expected: expectedBytes, firstByteTimeout });
      return new StagedDelivery(store, context, lease, pool, expectedBytes);
    },
  };
}

/**
 * A delivery that is being received. The caller opens and ends the items one after the other, and then calls `commit` or
 * `discard` once, either of which also releases all memory.
 */
export class StagedDelivery implements ItemSink {
  /** The delivery's memory, for content other than its items. */
  readonly memory: Memory;
  readonly #store: ObjectStore;
  readonly #context: ArtefactContext;
  readonly #rules: StagingRules;
  readonly #lease: BudgetLease;
  readonly #items: StagedItem[] = [];
  #settled = false;
  #discarding: Promise<void> | null = null;

  constructor(
    store: ObjectStore,
    context: ArtefactContext,
    lease: BudgetLease,
    pool: BufferPool,
    expectedBytes: number | null,
  ) {
    this.#store = store;
    this.#context = context;
    this.#lease = lease;
    this.memory = { pool, lease, waitFor: (bytes) => this.#waitFor(bytes) };
    /** Keys of the streamed items. */
    const claimed: string[] = [];
    this.#rules = {
      expectedBytes: expectedBytes ?? 0,
      partSize: store.partSize,
      openStream: (content) => openStreamTarget(store, context, content, claimed),
    };
  }

  async #waitFor(bytes: number): Promise<void> {
    this.#lease.discardable?.release();
    for (const item of this.#items) await item.spill();
    await this.#lease.take(bytes);
  }

  /** True once the delivery was committed or completely discarded. */
  get settled(): boolean {
    return this.#settled;
  }

  /** Registers optional content (such as the raw body, for quarantine) that is released before the delivery waits for memory. */
  setDiscardable(discardable: Discardable): void {
    this.#lease.discardable = discardable;
  }

  /** Called when the delivery is too slow while others wait for memory; it has to be discarded then. */
  onRefused(listener: (problem: Problem) => void): void {
    this.#lease.onRefused = listener;
  }

  open(description: ItemDescription): IncomingItem {
    const item = new StagedItem(description, this.memory, this.#rules);
    this.#items.push(item);
    return item;
  }

  /**
   * Makes the items visible, unless the job was erased. Resolves when all are proven durable, or to null when the job was erased;
   * then nothing of the delivery remains. Rejects with `StoreError` (the sender should retry; items that are already stored will be
   * identical), or with a `write-race` Problem when another delivery concurrently streamed different bytes to the same key.
   *
   * An erasure writes its mark first and then removes what the job has. So it removes the items of a commit that ended before
   * the mark was written; every later commit sees the mark and removes its items itself. That holds across replicas, in
   * every order of their calls (test/model/archive/erasure.test.ts runs all of them). The check before the commit prevents
   * erased content from being visible for a moment, and from being locked by a retention.
   *
   * @param hasErased whether the job is erased; by default reads the mark from the store
   */
  async commit(
    hasErased = (jobId: string): Promise<boolean> => isErased(this.#store, jobId),
  ): Promise<StoredItem[] | null> {
    const { jobId } = this.#context;
    this.#lease.fillRate.complete();
    try {
      if (await hasErased(jobId)) return await this.#discardErased();
      const [lone] = this.#items;
      const isLone = lone?.target === null && this.#items.length === 1;
      const stored = isLone
        ? [await commitBuffered(this.#store, this.#context, lone)]
        : await this.#commitAll();
      this.#settled = true;
      return (await hasErased(jobId)) ? await this.#discardErased() : stored;
    } catch (error) {
      await this.discard();
      // Some items may be visible.
      if (!(await hasErased(jobId).catch(() => false))) throw error;
      return await this.#discardErased();
    } finally {
      this.#close();
    }
  }

  async #discardErased(): Promise<null> {
    await this.discard();
    const { keyPrefix, jobId } = this.#context;
    for await (const _removed of purgeArtefacts(this.#store, keyPrefix, jobId));
    return null;
  }

  /**
   * Discards the delivery, even while a write is pending: nothing more becomes visible, memory is released, uploads are
   * aborted. Does nothing once settled. Never throws.
   */
  discard(): Promise<void> {
    if (this.#settled) return Promise.resolve();
    this.#discarding ??= this.#discard();
    return this.#discarding;
  }

  async #discard(): Promise<void> {
    this.#lease.close();
    await Promise.all(this.#items.map((item) => item.discard()));
    this.#settled = true;
  }

  /** Commits streamed items first: only they can lose a race, and then no buffered item is visible yet. */
  async #commitAll(): Promise<StoredItem[]> {
    const store = this.#store;
    const context = this.#context;
    const streamed: StoredItem[] = [];
    const written = new Set<string>();
    for (const item of this.#items) {
      if (item.target === null) continue;
      written.add(item.path);
      streamed.push(await commitStreamed(store, context, item, item.target));
    }
    const writes: Promise<StoredItem>[] = [];
    try {
      for (const item of this.#items) {
        if (item.target !== null) continue;
        const repeated = written.has(item.path);
        // Among items with the same path the first must win.
        if (repeated || writes.length % MAX_CONCURRENT_WRITES === 0) await Promise.all(writes);
        writes.push(commitBuffered(store, context, item, { repeated }));
        written.add(item.path);
      }
      const buffered = await Promise.all(writes);
      return this.#items.flatMap(({ target }) => (target === null ? buffered : streamed).shift() ?? []);
    } finally {
      // The sender is answered only when no write is in flight, so that nothing of the delivery becomes visible afterwards.
      await Promise.allSettled(writes);
    }
  }

  #close(): void {
    for (const item of this.#items) item.release();
    this.#lease.close();
  }
}
