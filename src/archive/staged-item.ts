import { createHash, hash } from 'node:crypto';
import type { IncomingItem, ItemDescription, ItemIdentity } from '../domain/item.js';
import { LeaseClosedError } from '../lib/memory/budget-lease.js';
import { type HeldBytes, type Memory, PartBuffer } from '../lib/memory/part-buffer.js';
import type { PendingUpload } from '../store/object-store.js';
import { artefactPath } from './layout.js';

/** Concurrent part uploads of one item. */
const MAX_PARTS_IN_FLIGHT = 3;

/** An item whose stream is being opened. */
export interface StreamedItem {
  readonly identity: ItemIdentity;
  /** Null while the item is incomplete. */
  readonly sha256: string | null;
  /** The sender's name of the file, kept as metadata. */
  readonly fileName: string | undefined;
}

/** The upload of a streamed item. */
export interface StreamTarget {
  readonly key: string;
  /** True when `key` is a conflict key, because the item's own key already exists. */
  readonly isConflict: boolean;
  readonly upload: PendingUpload;
}

export interface StagingRules {
  readonly partSize: number;
  /** Announced size of the whole delivery: the upper bound of an item without an announced size. */
  readonly expectedBytes: number;
  /** Opens the upload of an item that does not fit into one part, or that is spilled. The hash is known only when it is spilled. */
  openStream(content: StreamedItem): Promise<StreamTarget>;
}

/**
 * One item between its first byte and the commit of its delivery. Up to one part it stays in memory; a larger item, or
 * one whose delivery needs the memory, goes into an upload that is not visible yet.
 */
export class StagedItem implements IncomingItem {
  readonly description: ItemDescription;
  identity: ItemIdentity | null = null;
  size = 0;
  sha256 = '';
  target: StreamTarget | null = null;

  readonly #memory: Memory;
  readonly #rules: StagingRules;
  #part: PartBuffer;
  #hash: ReturnType<typeof createHash> | null = null;
  /** The upload that is being opened; `discard` waits for it in order to abort it. */
  #opening: Promise<StreamTarget> | null = null;
  #discarded = false;
  #inFlight: readonly Promise<void>[] = [];
  #failure: { error: unknown } | null = null;

  constructor(description: ItemDescription, memory: Memory, rules: StagingRules) {
    this.description = description;
    this.#memory = memory;
    this.#rules = rules;
    this.#part = new PartBuffer(memory, rules.partSize, description.expectedBytes ?? rules.expectedBytes);
  }

  /** Path below the job's folder, once the item is identified. */
  get path(): string {
    return this.identity === null ? '' : artefactPath(this.identity);
  }

  /** The content of a buffered item for a call of the store, after `end` and without `target`. Throws after `discard`. */
  hold(): HeldBytes {
    if (this.#discarded) throw new LeaseClosedError();
    return this.#part.hold();
  }

  async write(chunk: Buffer): Promise<void> {
    const { fillRate } = this.#memory.lease;
    fillRate.received(chunk.length);
    this.size += chunk.length;
    if (chunk.length <= this.#part.room) await this.#part.append(chunk);
    else await this.#writeAcrossParts(chunk);
    fillRate.awaitSender();
  }

  async end(): Promise<void> {
    const { fillRate } = this.#memory.lease;
    fillRate.received(0);
    if (this.#opening !== null) return this.#endStream();
    this.#part.shrink();
    const content = this.#part.bytes();
    this.identity = this.description.identify(content, true);
    this.sha256 = hash('sha256', content, 'hex');
    fillRate.awaitSender();
  }

  async #endStream(): Promise<void> {
    await this.#opening;
    this.#sendPart();
    if (this.#hash !== null) this.sha256 = this.#hash.digest('hex');
    await this.#settle();
    this.#memory.lease.fillRate.awaitSender();
  }

  /** Moves an ended item from memory into an upload. */
  async spill(): Promise<void> {
    if (this.target !== null || this.identity === null || this.size === 0) return;
    await this.#openStream(this.identity, this.sha256);
    this.#sendPart();
    await this.#settle();
  }

  /** Releases the memory and aborts the upload. Never throws. */
  async discard(): Promise<void> {
    this.#discarded = true;
    this.#part.release();
    const [opened] = await Promise.allSettled([this.#opening]);
    if (opened.status === 'fulfilled') await opened.value?.upload.abort();
  }

  release(): void {
    this.#part.release();
  }

  async #writeAcrossParts(chunk: Buffer): Promise<void> {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#part.room === 0) await this.#sendFullPart();
      const piece = rest.subarray(0, this.#part.room);
      await this.#part.append(piece);
      rest = rest.subarray(piece.length);
    }
  }

  async #sendFullPart(): Promise<void> {
    await this.#startStreaming();
    this.#sendPart();
    while (this.#inFlight.length >= MAX_PARTS_IN_FLIGHT) await Promise.race(this.#inFlight);
    this.#throwFailure();
  }

  async #startStreaming(): Promise<void> {
    if (this.target !== null) return;
    this.identity = this.description.identify(this.#part.bytes(), false);
    this.#hash = createHash('sha256');
    await this.#openStream(this.identity, null);
  }

  async #openStream(identity: ItemIdentity, sha256: string | null): Promise<void> {
    if (this.#discarded) throw new LeaseClosedError();
    this.#opening = this.#rules.openStream({ identity, sha256, fileName: this.description.fileName });
    this.target = await this.#opening;
  }

  /** Sends the current part to the store and begins the next. Its memory is released when the store has accepted it. */
  #sendPart(): void {
    const part = this.#part;
    const upload = this.target?.upload;
    if (upload === undefined || part.length === 0) return;
    this.#hash?.update(part.bytes());
    this.#memory.lease.flushed();
    this.#part = new PartBuffer(this.#memory, this.#rules.partSize, this.#rules.partSize);
    const sending = this.#upload(upload, part.hold()).finally(() => {
      this.#inFlight = this.#inFlight.filter((each) => each !== sending);
    });
    part.release();
    this.#inFlight = [...this.#inFlight, sending];
  }

  async #upload(upload: PendingUpload, part: HeldBytes): Promise<void> {
    try {
      await upload.write(part.bytes);
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      part.release();
    }
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
