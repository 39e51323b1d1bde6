import { type OpenArchive, openArchiveParts } from '../../app/archive-parts.js';
import { indexOfCommand } from '../../app/open-ledger.js';
import type { Config } from '../../config/config.js';
import type { RecoveryOutcome } from '../../domain/recovery-outcome.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { RecoveryParts } from '../../recovery/reconcile/recovery-parts.js';
import type { RecoveryReport } from '../../recovery/reconcile/report/recovery-report.js';
import { SpeechError } from '../../speech/speech-error.js';
import type { OnStoreCall } from '../../store/probe/measure-store.js';
import { EXIT, UsageError } from './exit-codes.js';
import { proveForWriting } from './on-store/prove-for-writing.js';
import { type Running, runOnStore, type StoreNeeds } from './on-store/run-on-store.js';

export interface RecoveryWork extends Running {
  readonly config: Config;
  readonly parts: RecoveryParts;
  readonly view: LedgerView;
}

interface Needs extends StoreNeeds {
  /** The work writes nothing, so the store is not probed. */
  readonly dryRun: boolean;
}

/** Runs work on the configured store and the service, and closes both. */
export async function withRecovery<T>(
  config: Config,
  { dryRun, mayBegin }: Needs,
  work: (given: RecoveryWork) => Promise<T>,
): Promise<T> {
  const open = (onStoreCall: readonly OnStoreCall[]) =>
    openArchiveParts(config, { onStoreCall, ...indexOfCommand(config) });
  const run = async ({ store, recovery, view }: OpenArchive, running: Running) => {
    if (!dryRun) await proveForWriting(config, store);
    return work({ config, parts: recovery, view, ...running });
  };
  return runOnStore(config, open, run, { mayBegin }).catch((error: unknown) => {
    const isConfiguration = error instanceof SpeechError && error.kind === 'configuration';
    throw isConfiguration ? new UsageError(error.message) : error;
  });
}

/** Throws `UsageError` when no region is configured. */
export function checkRegions({ speech }: RecoveryParts): void {
  if (speech.regions.length > 0) return;
  throw new UsageError('no region is configured: set speech.regions.<region>.batchUrl');
}

/** 4 takes precedence over 3: failed jobs may succeed in another run. */
export function exitCodeOf(
  outcomes: Readonly<Partial<Record<RecoveryOutcome, number>>>,
  faults: RecoveryReport['faults'] = [],
): number {
  if (outcomes.failed || faults.length > 0) return EXIT.incomplete;
  return outcomes.unrecoverable ? EXIT.unrecoverable : EXIT.ok;
}
