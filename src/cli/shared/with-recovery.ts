import { type OpenArchive, openArchiveParts } from '../../app/archive-parts.js';
import { indexOfCommand } from '../../app/open-ledger.js';
import {
  type Config,
  loadConfigWithoutCredentials,
  loadConfigWithSubscribers,
  loadStoreConfig,
} from '../../config/config.js';
import type { RecoveryOutcome } from '../../domain/recovery-outcome.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { RecoveryParts } from '../../recovery/reconcile/recovery-parts.js';
import type { RecoveryReport } from '../../recovery/reconcile/report/recovery-report.js';
import { SpeechError } from '../../speech/speech-error.js';
import { EXIT, UsageError } from './exit-codes.js';
import { proveForWriting } from './on-store/prove-for-writing.js';
import { runOnStore, type StoreNeeds } from './on-store/run-on-store.js';
import type { StoreAdvice } from './on-store/store-advice.js';

export interface RecoveryWork {
  readonly config: Config;
  readonly parts: RecoveryParts;
  readonly view: LedgerView;
  /** Aborted by a signal that ends processes; the second one ends the process at once. */
  readonly signal: AbortSignal;
}

type Work<T> = (given: RecoveryWork) => Promise<T>;

/**
 * Runs work on the configured store and the service, and closes both.
 *
 * @param dryRun the work writes nothing, so the store is not probed
 */
export async function withRecovery<T>(dryRun: boolean, work: Work<T>): Promise<T> {
  return runWith(loadConfigWithoutCredentials(), { dryRun }, work);
}

/** As `withRecovery`, for work that may be the first in its store. */
export async function withNewStore<T>(dryRun: boolean, work: Work<T>): Promise<T> {
  return runWith(loadConfigWithoutCredentials(), { dryRun, mayBegin: true }, work);
}

/** As `withRecovery`, for work that sends events: the secrets of subscribers are read. */
export async function withSubscribers<T>(dryRun: boolean, work: Work<T>): Promise<T> {
  return runWith(loadConfigWithSubscribers(), { dryRun }, work);
}

/** As `withRecovery`, for work that never asks the service: its key is not read. */
export async function withStoreAlone<T>(dryRun: boolean, work: Work<T>): Promise<T> {
  return runWith(loadStoreConfig(), { dryRun }, work);
}

interface Needs extends StoreNeeds {
  readonly dryRun: boolean;
}

async function runWith<T>(config: Config, { dryRun, mayBegin }: Needs, work: Work<T>): Promise<T> {
  const open = (advice: StoreAdvice) =>
    openArchiveParts(config, { ...advice, indexFiles: indexOfCommand(config) });
  const run = async ({ store, recovery, view }: OpenArchive, signal: AbortSignal) => {
    if (!dryRun) await proveForWriting(config, store);
    return work({ config, parts: recovery, view, signal });
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
