import { RETENTION_CLASSES, type RetentionClass } from '../../domain/kinds.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { Pause } from '../../lib/time/cooperative-yield.js';
import { StoreError } from '../../store/object-store.js';
import {
  type ExpiredObject,
  type ExpiringStore,
  type ExpirySearch,
  expiredLedger,
  expiredObjects,
  LEDGER_FOLDERS,
  partitionOf,
} from './expired-objects.js';
import { removeExpired } from './remove-expired.js';
import { readRetentionState, writeRetentionState } from './retention-state.js';
import type { ExpiredBefore, RetentionPeriods } from './retention-view.js';

export interface RetentionParts {
  readonly store: ExpiringStore;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly periods: RetentionPeriods;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Objects that sweeps of this process recorded and could not remove: they get no further line. Default: none. */
  readonly recorded?: Set<string>;
}

/** Result of a sweep. */
export interface RetentionReport {
  /** The sweep listed everything and removed all that had expired. */
  readonly complete: boolean;
  readonly kinds: Readonly<Partial<Record<RetentionClass, ExpiredCount>>>;
  /** At most `MAX_FAULTS`. */
  readonly faults: readonly RetentionFault[];
}

interface ExpiredCount {
  readonly objects: number;
  readonly bytes: number;
}

interface RetentionFault {
  readonly key: string | null;
  readonly reason: string;
}

/** Objects recorded together. Those of one job stay together, up to the larger number. */
const BATCH = 256;
const MAX_BATCH = 2_048;
const MAX_FAULTS = 100;

class Interrupted extends Error {}

/**
 * Records objects older than the period of their kind as expired in the ledger, then removes them. After a kill at any point the next
 * sweep continues. Any number of processes may sweep the same store. Failures of the store become part of the report, and the sweep
 * continues.
 */
export async function sweepRetention(
  parts: RetentionParts,
  signal?: AbortSignal,
  pause?: Pause,
): Promise<RetentionReport> {
  const { store, ledger, periods, clock, recorded = new Set() } = parts;
  const now = clock();
  const expiredBefore: ExpiredBefore = (kind) => now - (periods[kind] ?? Number.POSITIVE_INFINITY);
  const kinds: Partial<Record<RetentionClass, ExpiredCount>> = {};
  const faults: RetentionFault[] = [];
  const onFault = (key: string | null, reason: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ key, reason });
  };
  const onRemoved = (kind: RetentionClass, size: number) => {
    const { objects = 0, bytes = 0 } = kinds[kind] ?? {};
    kinds[kind] = { objects: objects + 1, bytes: bytes + size };
  };
  const search: ExpirySearch = { store, expiredBefore, onFault, signal, pause };

  async function removeAll(expired: AsyncIterable<ExpiredObject>, { onFault } = search): Promise<void> {
    for await (const batch of batches(expired)) {
      throwIfAborted(signal);
      await removeExpired({ store, ledger, onFault, onRemoved, recorded }, batch, clock());
    }
    throwIfAborted(signal);
  }

  try {
    // First, so that objects missing from now on are known to have expired.
    await recordExpiredBefore(parts, expiredBefore);
    await removeAll(expiredObjects(search));
    if (periods.ledger !== null) {
      const unremoved = new Set<string>();
      const onUnremoved: ExpirySearch['onFault'] = (key, reason) => {
        unremoved.add(partitionOf(key));
        onFault(key, reason);
      };
      const ledgerSearch = { ...search, onFault: onUnremoved };
      for (const folder of LEDGER_FOLDERS)
        await removeAll(expiredLedger(ledgerSearch, folder, unremoved), ledgerSearch);
    }
    // A sweep is finished even when something could not be removed: an immediate retry would not help.
    const finishedAt = new Date(clock()).toISOString();
    await writeRetentionState(store, { ...(await readRetentionState(store)), finishedAt, periods });
  } catch (error) {
    onFault(null, reasonOf(error));
  }
  return { complete: faults.length === 0, kinds, faults };
}

/** Rethrows errors other than a failure of the store or an interruption. */
function reasonOf(error: unknown): string {
  if (error instanceof Interrupted || error instanceof StoreError) return error.message;
  throw error;
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Interrupted('the sweep was interrupted; the next one continues');
}

async function recordExpiredBefore(
  { store, periods }: RetentionParts,
  expiredBefore: ExpiredBefore,
): Promise<void> {
  const state = await readRetentionState(store);
  const times = RETENTION_CLASSES.filter((kind) => periods[kind] !== null).map((kind) => {
    const time = new Date(expiredBefore(kind)).toISOString();
    const known = state.expiredBefore[kind];
    return [kind, known !== undefined && known > time ? known : time];
  });
  await writeRetentionState(store, {
    ...state,
    expiredBefore: { ...state.expiredBefore, ...Object.fromEntries(times) },
  });
}

/** Batches, so that memory does not grow with the number of objects. */
async function* batches(expired: AsyncIterable<ExpiredObject>): AsyncGenerator<readonly ExpiredObject[]> {
  let batch: ExpiredObject[] = [];
  for await (const each of expired) {
    const isFull = batch.length >= BATCH && batch.at(-1)?.jobId !== each.jobId;
    if (isFull || batch.length >= MAX_BATCH) {
      yield batch;
      batch = [];
    }
    batch.push(each);
  }
  if (batch.length > 0) yield batch;
}
