import { extentOf, type IndexExtent } from '../index-extent.js';
import type { LedgerView } from '../ledger-view.js';
import { type DeliverySummary, findSummary, type SummaryQuery } from './find-summary.js';

/** Figures of deliveries, and what the index has. */
export interface LedgerSummary extends DeliverySummary {
  readonly index: IndexExtent;
}

/** Rejects with `Problem` `request-invalid` for bad instants, numbers, groups and contexts, with `StoreError` and `IndexError`. */
export type Summarise = (query: SummaryQuery) => Promise<LedgerSummary>;

export function createSummary({ asked }: Pick<LedgerView, 'asked'>): Summarise {
  const { index } = asked;
  return async (query) => {
    const summary = await findSummary(index, query, Date.now());
    return { ...summary, index: extentOf(await index.call('state')) };
  };
}
