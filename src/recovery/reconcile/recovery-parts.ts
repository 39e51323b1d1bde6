import type { Archive } from '../../archive/archive.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { SpeechClients } from '../../speech/speech.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { RetentionView } from '../retention/retention-view.js';
import type { RecoverySources, Selection } from './expectation.js';
import type { RecoveredJob } from './report/recovery-report.js';

/** What recovery works with. Times in milliseconds. */
export interface RecoveryParts {
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly ledger: Ledger;
  /** Shows whether a callback arrived that leaves no artefact. */
  readonly view: Pick<LedgerView, 'deliveries' | 'hasErased' | 'refresh' | 'reachBack'>;
  readonly speech: SpeechClients;
  readonly sources: RecoverySources;
  /** Address senders use, when it is known. */
  readonly publicUrl: string | null;
  /** Milliseconds back to which jobs are listed. */
  readonly window: number;
  /** How long a callback may be in flight. */
  readonly grace: number;
  /** Jobs fetched at a time. */
  readonly concurrency: number;
  /** How long the service keeps results. */
  readonly retention: number;
  /** What has expired here. */
  readonly retained: RetentionView;
  /** Milliseconds since the epoch, by the store's clock: all processes that reconcile have it. */
  readonly clock: () => number;
}

/** Runs work when its turn comes. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** How to reconcile one job. */
export interface JobOptions extends Selection {
  readonly grace: number;
  /** Also fetch what is here, and compare. */
  readonly again: boolean;
  /** Report what would be fetched, change nothing. */
  readonly dryRun: boolean;
  readonly origin: 'recovery' | 'replay';
  /** Name of the admin token behind it. */
  readonly actor: string | null;
  readonly signal: AbortSignal | undefined;
  /** Bounds the requests to the store that look for artefacts. */
  readonly looking: Turns;
  /** Bounds the jobs that are fetched. */
  readonly fetching: Turns;
  /** Results that earlier runs left open, by the id of the job: the ledger has them. */
  readonly openBefore: ReadonlyMap<string, RecoveredJob>;
}
