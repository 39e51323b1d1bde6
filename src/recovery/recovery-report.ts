import type { StoredItem } from '../domain/item.js';

export const RECOVERY_OUTCOMES = [
  'matched',
  'recovered',
  'conflict',
  'pending',
  'unrecoverable',
  'failed',
] as const;
export type RecoveryOutcome = (typeof RECOVERY_OUTCOMES)[number];

/** The result of one item; `missing` was not fetched, `failed` may succeed next time. */
export interface RecoveredItem {
  readonly kind: StoredItem['kind'];
  readonly key: string;
  readonly outcome: StoredItem['outcome'] | 'missing' | 'unrecoverable' | 'failed';
}

export interface RecoveredJob {
  readonly jobId: string;
  /** Null when no region knows the job. */
  readonly region: string | null;
  readonly outcome: RecoveryOutcome;
  readonly reason: string | null;
  readonly items: readonly RecoveredItem[];
}

/** Something that kept a run from seeing everything. */
export interface RunFault {
  /** Null when it concerns the whole run. */
  readonly region: string | null;
  readonly reason: string;
}

/** What a run found and did; printed by `--json` and kept in the store. */
export interface RecoveryReport {
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Of the region that was looked back furthest in. */
  readonly window: { readonly since: string; readonly until: string };
  /** The options made the run look at less than a run without options. */
  readonly limited: boolean;
  /** Regions where this run and those before it left out no job created until `window.until`. */
  readonly regions: readonly string[];
  readonly outcomes: Readonly<Record<RecoveryOutcome, number>>;
  /** All but the matched ones, which are only counted. */
  readonly jobs: readonly RecoveredJob[];
  /** Jobs that were seen and belong to no source here. */
  readonly ignored: number;
  /** Empty when every region was listed to its end. */
  readonly faults: readonly RunFault[];
}

export interface ReportBuilder {
  add(job: RecoveredJob): void;
  ignore(): void;
  fault(region: string | null, reason: string): void;
  /** @param finishedAt milliseconds since the epoch */
  finish(finishedAt: number): RecoveryReport;
}

export interface ReportScope {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly since: Date;
  readonly limited: boolean;
  /** Regions where the run leaves nothing out unless a fault says otherwise. */
  readonly complete: readonly string[];
  /** Jobs of these outcomes are listed, others only counted. Default: all but `matched`. */
  readonly listed?: readonly RecoveryOutcome[];
}

const ALL_BUT_MATCHED = RECOVERY_OUTCOMES.filter((outcome) => outcome !== 'matched');

export function buildReport(scope: ReportScope): ReportBuilder {
  const { since, limited, complete, listed = ALL_BUT_MATCHED } = scope;
  const startedAt = new Date(scope.startedAt).toISOString();
  const jobs: RecoveredJob[] = [];
  const faults: RunFault[] = [];
  const outcomes = Object.fromEntries(RECOVERY_OUTCOMES.map((outcome) => [outcome, 0]));
  let ignored = 0;
  return {
    add(job) {
      outcomes[job.outcome] = (outcomes[job.outcome] ?? 0) + 1;
      if (listed.includes(job.outcome)) jobs.push(job);
    },
    ignore() {
      ignored += 1;
    },
    fault(region, reason) {
      faults.push({ region, reason });
    },
    finish: (finishedAt) => ({
      startedAt,
      finishedAt: new Date(finishedAt).toISOString(),
      window: { since: since.toISOString(), until: startedAt },
      limited,
      regions: complete.filter((name) => faults.every(({ region }) => region !== null && region !== name)),
      outcomes: outcomes as Record<RecoveryOutcome, number>,
      jobs,
      ignored,
      faults,
    }),
  };
}

/** Whether a run had no limits and no faults. Only such a run proves that a job earlier runs missed is missing no more. */
export function sawEverything(run: {
  readonly limited?: boolean;
  readonly faults?: readonly unknown[];
}): boolean {
  return !run.limited && run.faults?.length === 0;
}
