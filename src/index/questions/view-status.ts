import type { StoreCondition } from '../../store/store-remedies.js';
import type { FillSchedule } from '../fill/fill-schedule.js';
import type { IndexState } from '../index-state.js';
import type { IndexPlace } from '../open-index.js';

export interface LedgerViewStatus {
  readonly state: 'loading' | 'ready';
  /** Location of the index; null before it was opened. */
  readonly place: IndexPlace | null;
  /** Number of lines in the index. */
  readonly rows: number;
  /** ISO 8601 of the last successful read of new lines, or null. */
  readonly refreshedAt: string | null;
  /** Why the last read failed, or null. */
  readonly error: string | null;
  /** Whether the store failed, or the index, as on a full disk; null when `error` is null. */
  readonly fault: 'store' | 'index' | null;
  /** Condition of the whole store that `error` shows; null where it shows none. */
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
