import { waitAtMost } from '../../lib/time/deadline.js';
import type { LedgerView } from '../ledger-view.js';

/** Milliseconds a request waits for the store. */
const PATIENCE = 2000;

/**
 * Refreshes the view, so that a request sees what any replica acknowledged just before it. Concurrent requests share a
 * refresh. A failing store does not delay them beyond the timeout; the view's `status` reports the failure.
 */
export type FreshView = () => Promise<void>;

export function createFreshView(view: Pick<LedgerView, 'touch' | 'refresh'>): FreshView {
  return () => {
    view.touch();
    return waitAtMost(
      PATIENCE,
      view.refresh().catch(() => undefined),
    );
  };
}
