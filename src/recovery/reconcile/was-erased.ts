import { isErased } from '../../archive/erasure/erasure.js';
import { isErasedInLedger } from '../../index/questions/erased-in-ledger.js';
import type { JobRecord } from '../../speech/wire.js';
import { searchFrom } from './clock-tolerance.js';
import type { RecoveryParts } from './recovery-parts.js';

/** By its mark or, where a store was restored without its marks, by the ledger. Rejects with `StoreError`. */
export async function wasErased(
  { store, view, clock }: Pick<RecoveryParts, 'store' | 'view' | 'clock'>,
  { id, created_at }: Pick<JobRecord, 'id' | 'created_at'>,
): Promise<boolean> {
  return (
    (await isErased(store, id)) || isErasedInLedger({ store, view }, id, searchFrom(created_at, clock()))
  );
}
