import type { ReconcileState } from '../answers/reconcile.js';

/** Runs of reconcile in this process, one at a time. */
export interface ReconcileRuns {
  state(): Pick<ReconcileState, 'running' | 'last'>;
  /**
   * Starts a run once `record` has resolved; rejects like `record`. False when another run is in progress, or the process is stopping.
   *
   * @param order `full`: list as far back as the service keeps results
   */
  start(
    order: { readonly actor: string; readonly full: boolean },
    record: () => Promise<void>,
  ): Promise<boolean>;
}
