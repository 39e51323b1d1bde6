import { type Archive, createArchive } from '../archive/archive.js';
import type { Config } from '../config/config.js';
import type { LedgerView } from '../index/ledger-view.js';
import type { Ledger, LedgerOptions } from '../ledger/write/ledger.js';
import { type BufferPool, createBufferPool } from '../lib/memory/buffer-pool.js';
import { ByteBudget } from '../lib/memory/byte-budget.js';
import { collectAsBytesPass } from '../observe/collect-as-bytes-pass.js';
import type { RecoveryParts } from '../recovery/reconcile/recovery-parts.js';
import { createSpeechClients, type SpeechClients } from '../speech/speech.js';
import type { ObjectStore } from '../store/object-store.js';
import { type OpenLedgerOptions, openLedger } from './open-ledger.js';
import { openLedgerWriter } from './open-ledger-writer.js';
import { retentionViewOf } from './retention-view-of.js';
import { speechOptions } from './speech-options.js';

/** What every command that touches the archive needs, the receiver among them. */
export interface OpenArchive {
  readonly store: ObjectStore;
  /** All body buffers of the process come from it, callbacks' and recovery's. */
  readonly budget: ByteBudget;
  readonly archive: Archive;
  readonly ledger: Ledger;
  /** Reads nothing, and opens no index, before its first use. */
  readonly view: LedgerView;
  readonly speech: SpeechClients;
  readonly recovery: RecoveryParts;
  /** Flushes the ledger and ends connections. */
  close(): Promise<void>;
}

/**
 * Builds the parts from the configuration. Nothing is written or asked before the first use.
 *
 * @param onSegment as in `LedgerOptions`
 */
export async function openArchiveParts(
  config: Config,
  options: OpenLedgerOptions,
  onSegment?: LedgerOptions['onSegment'],
): Promise<OpenArchive> {
  const { store, view, close } = await openLedger(config, options);
  const { memoryBudget } = config.limits;
  const budget = new ByteBudget({ total: memoryBudget, reserve: store.partSize });
  const pool: BufferPool = createBufferPool({
    largest: store.partSize,
    most: memoryBudget,
    onFilled: collectAsBytesPass(() => pool.allocated),
  });
  const archive = createArchive(store, budget, pool);
  const ledger = openLedgerWriter(config, store, onSegment);
  const speech = createSpeechClients(speechOptions(config));
  const recovery: RecoveryParts = {
    store,
    archive,
    ledger,
    view,
    speech,
    sources: config.sources,
    publicUrl: config.receiver.publicUrl,
    window: config.recovery.window,
    grace: config.recovery.grace,
    concurrency: config.recovery.concurrency,
    retention: config.speech.retention,
    retained: retentionViewOf(config, store),
    clock: Date.now,
  };
  return {
    store,
    budget,
    archive,
    ledger,
    view,
    speech,
    recovery,
    async close() {
      await ledger.close();
      await speech.close();
      await close();
    },
  };
}
