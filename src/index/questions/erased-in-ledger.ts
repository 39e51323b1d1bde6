import type { LedgerView } from '../ledger-view.js';

/**
 * Whether a line says that an operator erased the job. Its mark may be missing: a bucket was restored without its dot-folders. Waits for an
 * index that is being built. Rejects with `StoreError` and `IndexError`.
 *
 * @param since ISO 8601
 */
export async function isErasedInLedger(
  view: Pick<LedgerView, 'deliveries' | 'extent' | 'readPast'>,
  job: string,
  since: string,
): Promise<boolean> {
  const { since: begin, until } = view.extent();
  if (until === null || (begin !== null && begin > since)) await view.readPast();
  const { deliveries } = await view.deliveries({ job, outcome: 'erased', since, limit: 1 });
  return deliveries.length > 0;
}
