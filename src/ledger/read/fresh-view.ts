import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerView } from './ledger-view.js';

export interface FreshViewOptions {
  readonly view: Pick<LedgerView, 'touch' | 'refresh' | 'status'>;
  /** Milliseconds a request waits for the store. Default 1,500. */
  readonly patience?: number;
}

/**
 * Refreshes the view, so that a request sees what any replica acknowledged just before it. Concurrent requests share a
 * refresh. A failing store does not delay them beyond the timeout; the view's `status` reports the failure.
 */
export type FreshView = () => Promise<void>;

export function createFreshView(options: FreshViewOptions): FreshView {
  const { view, patience = 1500 } = options;
  return async () => {
    view.touch();
    // During the first load pages wait for their own rows: waiting here as well would gain nothing.
    if (view.status().state === 'loading') return;
    const given = new AbortController();
    const timeout = sleep(patience, undefined, { signal: given.signal }).catch(() => undefined);
    await Promise.race([view.refresh().catch(() => undefined), timeout]);
    given.abort();
  };
}
