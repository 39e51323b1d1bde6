import { setTimeout as sleep } from 'node:timers/promises';
import type { Archive, ArtefactContext, StagedDelivery } from '../archive/archive.js';
import type { Ledger } from '../archive/ledger.js';
import type { Config } from '../config.js';
import { openCore } from '../core.js';
import type { LedgerLine } from '../domain/delivery.js';
import type { IncomingItem, ItemKind, StoredItem } from '../domain/item.js';
import { outcomeOf } from '../receiver/acknowledge.js';
import { StoreError } from '../store/object-store.js';
import { probeStore } from '../store/probe.js';
import { WeakStoreError } from '../store/store-proof.js';

/** The archive and ledger of the receiver, opened for captures. */
export interface CaptureArchive {
  begin(context: Omit<ArtefactContext, 'status'>, recording: Recording | null): CaptureDelivery;
  close(): Promise<void>;
}

/** The audio is to be kept. */
export interface Recording {
  readonly fileName: string | null;
}

export interface CapturedFile {
  readonly kind: ItemKind;
  readonly contentType: string;
  readonly content: string;
}

/** One session on its way into the archive. */
export interface CaptureDelivery {
  /** Takes audio for the archive. When the store fails, audio is given up, not the session. */
  keepAudio(chunk: Buffer): Promise<void>;
  /** True when audio was to be kept and could not be. */
  readonly audioLost: boolean;
  /**
   * Makes everything visible and writes the ledger line. The transcripts come first and are tried again;
   * throws `StoreError` when they cannot be stored.
   */
  finish(files: readonly CapturedFile[], end: CaptureEnd): Promise<LedgerLine>;
  /** Gives up what is not visible yet. Nothing to do once finished; never throws. */
  discard(): Promise<void>;
}

export interface CaptureEnd {
  readonly status: 'success' | 'incomplete';
  readonly reason: string | null;
  /** Bytes of audio the service acknowledged. */
  readonly bytes: number;
}

const ATTEMPTS = 4;
const PAUSE_MS = 500;

export interface CaptureParts {
  readonly archive: Archive;
  readonly ledger: Ledger;
  /** Milliseconds before another attempt at what failed; grows with each. */
  readonly pauseMs: number;
}

/** Opens the store and tries it, before anybody talks for an hour into one that keeps nothing. */
export async function openCaptureArchive(config: Config): Promise<CaptureArchive> {
  const core = await openCore(config);
  const { store, archive, ledger } = core;
  const { writable, trustworthy, findings } = await probeStore(store, { prefix: '.probe/' });
  if (!writable || (!trustworthy && config.store.s3.conditionalWrites !== 'emulated')) {
    await core.close();
    const said = findings.join(' ');
    throw writable ? new WeakStoreError(store.location, said) : new StoreError('probe', said);
  }
  return {
    begin: (context, recording) => beginCapture({ archive, ledger, pauseMs: PAUSE_MS }, context, recording),
    close: () => core.close(),
  };
}

/** Begins one session's delivery; with `recording` its audio is kept too. */
export function beginCapture(
  parts: CaptureParts,
  context: Omit<ArtefactContext, 'status'>,
  recording: Recording | null,
): CaptureDelivery {
  return new Delivery(parts, context, recording);
}

interface KeptAudio {
  readonly staged: StagedDelivery;
  readonly item: IncomingItem;
}

class Delivery implements CaptureDelivery {
  readonly #parts: CaptureParts;
  readonly #context: Omit<ArtefactContext, 'status'>;
  readonly #startedAt = performance.now();
  #audio: KeptAudio | null = null;
  audioLost = false;

  constructor(parts: CaptureParts, context: Omit<ArtefactContext, 'status'>, recording: Recording | null) {
    this.#parts = parts;
    this.#context = context;
    if (recording === null) return;
    // A delivery of its own: transcripts must not wait for gigabytes of audio, nor be lost with them.
    const staged = parts.archive.begin({ ...context, status: null });
    const identify = () => ({ kind: 'data' as const, contentType: 'application/octet-stream' });
    const { fileName } = recording;
    this.#audio = { staged, item: staged.open({ identify, ...(fileName === null ? {} : { fileName }) }) };
  }

  async keepAudio(chunk: Buffer): Promise<void> {
    await this.#orLoseAudio(async (audio) => audio.item.write(chunk));
  }

  async finish(files: readonly CapturedFile[], end: CaptureEnd): Promise<LedgerLine> {
    const items = await this.#persistently(() => this.#storeFiles(files, end.status));
    await this.#orLoseAudio(async ({ staged, item }) => {
      await item.end();
      items.push(...(await staged.commit()));
    });
    const line = this.#line(items, end);
    await this.#persistently(() => this.#parts.ledger.append(line));
    return line;
  }

  async discard(): Promise<void> {
    await this.#audio?.staged.discard();
  }

  async #storeFiles(files: readonly CapturedFile[], status: string): Promise<StoredItem[]> {
    const staged = this.#parts.archive.begin({ ...this.#context, status });
    try {
      for (const { kind, contentType, content } of files) {
        const item = staged.open({ identify: () => ({ kind, contentType }) });
        await item.write(Buffer.from(content));
        await item.end();
      }
      return await staged.commit();
    } finally {
      await staged.discard();
    }
  }

  async #orLoseAudio(work: (audio: KeptAudio) => Promise<unknown>): Promise<void> {
    const audio = this.#audio;
    if (audio === null) return;
    try {
      await work(audio);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#audio = null;
      this.audioLost = true;
      await audio.staged.discard();
    }
  }

  #line(items: readonly StoredItem[], { status, reason, bytes }: CaptureEnd): LedgerLine {
    const { deliveryId, receivedAt, origin, source, region, jobId } = this.#context;
    return {
      v: 1,
      deliveryId,
      receivedAt,
      origin,
      source,
      region,
      clientIp: null,
      method: null,
      jobId,
      status,
      credential: null,
      outcome: outcomeOf(items),
      reason,
      items,
      bytes,
      durationMs: Math.round(performance.now() - this.#startedAt),
      shape: null,
    };
  }

  /** A live session cannot be had again: a store that stumbles gets some more chances. */
  async #persistently<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StoreError) || attempt === ATTEMPTS) throw error;
        await sleep(this.#parts.pauseMs * attempt);
      }
    }
  }
}
