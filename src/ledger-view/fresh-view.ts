import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerView } from './ledger-view.js';

export interface FreshViewOptions {
  readonly view: Pick<LedgerView, 'touch' | 'refresh' | 'status'>;
  /** Milliseconds a request waits for a look. Default 1,500. */
  readonly patience?: number;
}

/**
 * Looks at the ledger now, so that a request sees what was acknowledged just before it, on whichever replica.
 * Requests that come together share a look. A store in trouble does not hold them up; the view's `status`
 * tells of it.
 */
export type FreshView = () => Promise<void>;

export function createFreshView(options: FreshViewOptions): FreshView {
  const { view, patience = 1500 } = options;
  return async () => {
    view.touch();
    // The first load gives pages as soon as they are complete; nothing is gained by waiting here.
    if (view.status().state === 'loading') return;
    const given = new AbortController();
    const timeout = sleep(patience, undefined, { signal: given.signal }).catch(() => undefined);
    await Promise.race([view.refresh().catch(() => undefined), timeout]);
    given.abort();
  };
}
