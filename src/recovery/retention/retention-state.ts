import { RETENTION_STATE } from '../../archive/layout.js';
import type { RetentionClass } from '../../domain/kinds.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';

/** State of the sweeps of a file store: the document at `.retention/state.json`. */
export interface RetentionState {
  readonly v: 1;
  /**
   * ISO 8601, by kind: everything older was removed, or is being removed. Never set back, so that removed objects still count as expired
   * after the period was made longer.
   */
  readonly expiredBefore: Readonly<Partial<Record<RetentionClass, string>>>;
  /** ISO 8601: when the last complete sweep finished; null before the first. */
  readonly finishedAt: string | null;
  /** The periods of that sweep, in milliseconds. */
  readonly periods: Readonly<Partial<Record<RetentionClass, number | null>>>;
}

const FIRST: RetentionState = { v: 1, expiredBefore: {}, finishedAt: null, periods: {} };

/** Throws `StoreError`. */
export async function readRetentionState(store: ObjectStore): Promise<RetentionState> {
  const document = await readDocument(store, RETENTION_STATE);
  return document?.v === 1 ? { ...FIRST, ...(document as unknown as RetentionState) } : FIRST;
}

/** Unconditional: replicas that sweep at the same time write nearly the same. Throws `StoreError`. */
export async function writeRetentionState(store: ObjectStore, state: RetentionState): Promise<void> {
  await store.replace(RETENTION_STATE, Buffer.from(JSON.stringify(state)), DOCUMENT_HEADERS);
}
