import type { StoreCondition } from '../../store/store-remedies.js';
import type { FillSchedule } from '../fill/fill-schedule.js';
import type { IndexState } from '../index-state.js';
import type { IndexPlace } from '../open-index.js';

export interface LedgerViewStatus {
  readonly state: 'loading' | 'ready';
  /** Where the index is; null before it was opened. */
  readonly place: IndexPlace | null;
  /** Lines in the index. */
  readonly rows: number;
  /** ISO 8601 of the last successful read of what is new, or null. */
  readonly refreshedAt: string | null;
  /** Why the last read failed, or null. */
  readonly error: string | null;
  /** What failed: a call of the store, or of the index, such as on a full disk; null when `error` is. */
  readonly fault: 'store' | 'index' | null;
  /** What `error` says of the whole store; null where it does not say. */
  readonly condition: StoreCondition | null;
}

/** @param state null before the index was opened */
export function viewStatus(
  state: IndexState | null,
  { refreshedAt, error, fault, condition }: ReturnType<FillSchedule['status']>,
  index: Pick<LedgerViewStatus, 'place' | 'rows'>,
): LedgerViewStatus {
  return {
    state: (state?.until ?? null) === null ? 'loading' : 'ready',
    ...index,
    error,
    fault,
    condition,
    refreshedAt: refreshedAt === null ? null : new Date(refreshedAt).toISOString(),
  };
}
