import { createArchive } from '../archive/archive.js';
import type { Config } from '../config/config.js';
import { storeClock } from '../ledger/hours.js';
import type { LedgerOptions } from '../ledger/write/ledger.js';
import { type BufferPool, createBufferPool } from '../lib/memory/buffer-pool.js';
import { ByteBudget } from '../lib/memory/byte-budget.js';
import { collectAsBytesPass } from '../observe/collect-as-bytes-pass.js';
import type { RecoveryParts } from '../recovery/reconcile/recovery-parts.js';
import { createSpeechClients } from '../speech/speech.js';
import { type OpenLedgerOptions, openLedger } from './open-ledger.js';
import { openLedgerWriter } from './open-ledger-writer.js';
import { retentionViewOf } from './retention-view-of.js';
import { speechOptions } from './speech-options.js';

export type OpenArchive = Awaited<ReturnType<typeof openArchiveParts>>;

/**
 * Builds the store, archive, ledger and recovery of a process from the configuration: for the receiver, and for commands that use the
 * archive. Makes no request before the first use.
 *
 * @param onSegment as in `LedgerOptions`
 */
export async function openArchiveParts(
  config: Config,
  options: OpenLedgerOptions,
  onSegment?: LedgerOptions['onSegment'],
) {
  const { store, view, close } = await openLedger(config, options);
  const { memoryBudget } = config.limits;
  const budget = new ByteBudget({ total: memoryBudget, reserve: store.partSize });
  const pool: BufferPool = createBufferPool({
    largest: store.partSize,
    maxBytes: memoryBudget,
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
    clock: storeClock(store),
  };
  return {
    store,
    /** Budget of all body buffers of the process, of callbacks and recovery. */
    budget,
    archive,
    ledger,
    /** Opens the index at its first use. */
    view,
    speech,
    recovery,
    /** Flushes the ledger and ends connections. */
    async close(): Promise<void> {
      await ledger.close();
      await speech.close();
      await close();
    },
  };
}
