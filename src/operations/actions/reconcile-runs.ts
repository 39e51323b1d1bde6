import type { ReconcileState } from '../answers/reconcile.js';

/** Runs of reconcile in this process, one at a time. */
export interface ReconcileRuns {
  state(): Pick<ReconcileState, 'running' | 'last'>;
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
