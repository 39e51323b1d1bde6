import { waitAtMost } from '../../lib/time/deadline.js';
import type { LedgerView } from '../ledger-view.js';

/**
 * Refreshes the view, so that a request sees what any replica acknowledged just before it. Concurrent requests share a
 * refresh. A failing store delays them no longer than the timeout; the view's `status` reports the failure.
 */
export type FreshView = () => Promise<void>;

/** @param within milliseconds a request waits for the store */
export function createFreshView(view: Pick<LedgerView, 'touch' | 'refresh'>, within: number): FreshView {
  return () => {
    view.touch();
    return waitAtMost(
      within,
      view.refresh().catch(() => undefined),
    );
  };
}
