import type { Archive } from '../../archive/archive.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { SpeechClients } from '../../speech/speech.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { RetentionView } from '../retention/retention-view.js';
import type { RecoverySources, Selection } from './expectation.js';
import type { RecoveredJob } from './report/recovery-report.js';

/** Dependencies and settings of recovery. Times in milliseconds. */
export interface RecoveryParts {
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly ledger: Ledger;
  /** Used to find callbacks that leave no artefact, and erasures. */
  readonly view: Pick<LedgerView, 'deliveries' | 'hasErased' | 'refresh' | 'reachBack'>;
  readonly speech: SpeechClients;
  readonly sources: RecoverySources;
  /** Address that senders use, when it is known. */
  readonly publicUrl: string | null;
  /** Milliseconds back to which jobs are listed. */
  readonly window: number;
  /** How long a callback may be in flight. */
  readonly grace: number;
  /** Jobs fetched at a time. */
  readonly concurrency: number;
  /** How long the service keeps results. */
  readonly retention: number;
  /** Times before which artefacts here have expired. */
  readonly retained: RetentionView;
  /** Milliseconds since the epoch, by the store's clock, which all processes that reconcile share. */
  readonly clock: () => number;
}

/** Runs work within a limit of concurrency. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** How to reconcile one job. */
export interface JobOptions extends Selection {
  readonly grace: number;
  /** Also fetch artefacts that are stored, and compare them. */
  readonly again: boolean;
  /** Report what would be fetched, change nothing. */
  readonly dryRun: boolean;
  readonly origin: 'recovery' | 'replay';
  /** Name of the admin token behind it. */
  readonly actor: string | null;
  readonly signal: AbortSignal | undefined;
  /** Bounds the requests to the store that look for artefacts. */
  readonly lookupLimit: ConcurrencyLimit;
  /** Bounds the jobs that are fetched. */
  readonly fetchLimit: ConcurrencyLimit;
  /** Open results of earlier runs by job id. The ledger already has them. */
  readonly openBefore: ReadonlyMap<string, RecoveredJob>;
}
