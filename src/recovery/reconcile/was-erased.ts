import { isErased } from '../../archive/erasure/erasure.js';
import { isErasedInLedger } from '../../index/questions/erased-in-ledger.js';
import type { JobRecord } from '../../speech/wire.js';
import type { RecoveryParts } from './recovery-parts.js';

/** Milliseconds. The service's clock may differ from ours: a job created after a run may carry a time before it. */
export const SERVICE_CLOCK_TOLERANCE = 3_600_000;

/**
 * From when the ledger can have lines of a job; ISO 8601.
 *
 * @param createdAt by the service's clock
 * @param now milliseconds since the epoch
 */
export function searchFrom(createdAt: string, now: number): string {
  const from = Math.min(Date.parse(createdAt), now) - SERVICE_CLOCK_TOLERANCE;
  return new Date(Number.isNaN(from) ? 0 : from).toISOString();
}

/** Whether the job was erased, by its mark or, where a store was restored without its marks, by the ledger. Rejects with `StoreError`. */
export async function wasErased(
  { store, view, clock }: Pick<RecoveryParts, 'store' | 'view' | 'clock'>,
  { id, created_at }: Pick<JobRecord, 'id' | 'created_at'>,
): Promise<boolean> {
  return (
    (await isErased(store, id)) || isErasedInLedger({ store, view }, id, searchFrom(created_at, clock()))
  );
}
