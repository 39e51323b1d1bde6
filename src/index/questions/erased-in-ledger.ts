import type { LedgerView } from '../ledger-view.js';

/**
 * Whether a line says that an operator erased the job. Its mark may be missing: a bucket was restored without its dot-folders. Rejects with
 * `StoreError`.
 */
export async function isErasedInLedger(
  view: Pick<LedgerView, 'deliveries'>,
  job: string,
  since: string,
): Promise<boolean> {
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await view.deliveries({
      job,
      outcome: 'erased',
      since,
      limit: 1,
      ...(cursor && { cursor }),
    });
    if (page.deliveries.length > 0) return true;
    cursor = page.nextCursor;
  }
  return false;
}
