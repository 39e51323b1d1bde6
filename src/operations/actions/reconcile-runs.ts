import type { RunResult } from '../../domain/recovery-run.js';

/** A run of reconcile that is under way in this process. */
export interface RunningRun {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null for a run on its interval. */
  readonly actor: string | null;
  /** Jobs so far. */
  readonly checked: number;
  readonly recovered: number;
  readonly failed: number;
}

/** The last run of this process. */
export interface EndedRun extends RunResult, Pick<RunningRun, 'startedAt' | 'actor'> {
  readonly finishedAt: string;
}

/** Runs of reconcile in this process, one at a time. */
export interface ReconcileRuns {
  state(): { readonly running: RunningRun | null; readonly last: EndedRun | null };
  /**
   * Begins a run when `record` has resolved; rejects as it does. False when another one is under way, or the process ends.
   *
   * @param order `full`: as far back as the service keeps results
   */
  order(
    order: { readonly actor: string; readonly full: boolean },
    record: () => Promise<void>,
  ): Promise<boolean>;
}
