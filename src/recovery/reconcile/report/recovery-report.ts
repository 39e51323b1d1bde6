import type { StoredItem } from '../../../domain/item.js';
import { RECOVERY_OUTCOMES, type RecoveryOutcome } from '../../../domain/recovery-outcome.js';
import type { JobRecord } from '../../../speech/wire.js';

/** Milliseconds by which the listed ranges of two runs overlap: a job may appear in the list this long after its creation. */
export const LIST_OVERLAP = 15 * 60_000;

type RecoveryCounts = Readonly<
  Record<Exclude<RecoveryOutcome, 'expired'>, number> & Partial<Record<'expired', number>>
>;

/** Result for one item: `missing` was not fetched, `failed` may succeed next time, `expired` is past its retention period. */
export interface RecoveredItem {
  readonly kind: StoredItem['kind'];
  readonly key: string;
  readonly outcome: StoredItem['outcome'] | 'missing' | 'expired' | 'unrecoverable' | 'failed';
}

export interface RecoveredJob {
  readonly jobId: string;
  /** Null when no region knows the job. */
  readonly region: string | null;
  readonly outcome: RecoveryOutcome;
  readonly reason: string | null;
  readonly items: readonly RecoveredItem[];
  /** This run recorded that the job ended without a transcript: its callback was lost. */
  readonly recorded?: true;
}

/** Why a run is not complete. */
export interface RunFault {
  /** Null when it concerns the whole run. */
  readonly region: string | null;
  readonly reason: string;
}

/** What a run found and did; printed by `--json` and kept in the store. */
export interface RecoveryReport {
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Largest range that was listed of a region. */
  readonly window: { readonly since: string; readonly until: string };
  /** Regions where this run and those before it left out no job created until `window.until`. */
  readonly regions: readonly string[];
  /** Fingerprint of the settings that determine the expected artefacts of a job: a run with others lists everything again. */
  readonly expectations: string;
  /** `expired` is absent when there are none. */
  readonly outcomes: RecoveryCounts;
  /** Jobs without a transcript whose callback was lost, and whose end this run recorded. */
  readonly recorded: number;
  /** All but the matched, the expired and the young pending jobs beyond the first thousand, which are only counted. */
  readonly jobs: readonly RecoveredJob[];
  /** Jobs that were seen and belong to no source here. */
  readonly ignored: number;
  /** How many of these have a callback URL that leads here, by its source, which is not configured. */
  readonly unconfigured: Readonly<Record<string, number>>;
  /** Empty when every region was listed to its end. */
  readonly faults: readonly RunFault[];
}

export type ReportBuilder = ReturnType<typeof buildReport>;

interface ReportScope {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly earliest: Date;
  readonly regions: readonly string[];
  readonly expectations: string;
}

/** Young pending jobs in a report. At ten million jobs a day a hundred thousand are pending at any time. */
const MAX_YOUNG_PENDING = 1000;

/** Bounds the names of sources in a report: a submitter may have written a different one for each job. */
const MAX_UNCONFIGURED = 20;

export function buildReport(scope: ReportScope) {
  const { earliest, regions, expectations } = scope;
  const startedAt = new Date(scope.startedAt).toISOString();
  const jobs: RecoveredJob[] = [];
  const faults: RunFault[] = [];
  const outcomes = Object.fromEntries(
    RECOVERY_OUTCOMES.filter((outcome) => outcome !== 'expired').map((outcome) => [outcome, 0]),
  );
  let ignored = 0;
  const unconfigured = new Map<string, number>();
  let recorded = 0;
  let youngPending = 0;
  /** Later runs list these again (`lookBack`), so the report need not name them. */
  const isYoungPending = ({ outcome }: RecoveredJob, record: JobRecord | null) =>
    outcome === 'pending' &&
    record !== null &&
    Date.parse(record.created_at) > scope.startedAt - LIST_OVERLAP;
  return {
    /** @param record null when the service did not show the job */
    add(job: RecoveredJob, record: JobRecord | null): void {
      outcomes[job.outcome] = (outcomes[job.outcome] ?? 0) + 1;
      if (job.recorded) recorded += 1;
      if (isYoungPending(job, record)) youngPending += 1;
      if (job.outcome === 'matched' || job.outcome === 'expired') return;
      if (!isYoungPending(job, record) || youngPending <= MAX_YOUNG_PENDING) jobs.push(job);
    },
    /** @param source the one that its callback URL names, where that leads here */
    ignore(source: string | null): void {
      ignored += 1;
      if (source === null || (unconfigured.size === MAX_UNCONFIGURED && !unconfigured.has(source))) return;
      unconfigured.set(source, (unconfigured.get(source) ?? 0) + 1);
    },
    fault(region: string | null, reason: string): void {
      faults.push({ region, reason });
    },
    /** @param finishedAt milliseconds since the epoch */
    finish(finishedAt: number): RecoveryReport {
      const isSeen = (name: string) => faults.every(({ region }) => region !== null && region !== name);
      return {
        startedAt,
        finishedAt: new Date(finishedAt).toISOString(),
        window: { since: earliest.toISOString(), until: startedAt },
        regions: regions.filter(isSeen),
        expectations,
        outcomes: outcomes as RecoveryCounts,
        recorded,
        jobs,
        ignored,
        unconfigured: Object.fromEntries(unconfigured),
        // Regions are listed concurrently: without sorting, equal runs would have different reports.
        faults: faults.toSorted((one, other) => (one.region ?? '').localeCompare(other.region ?? '')),
      };
    },
  };
}
