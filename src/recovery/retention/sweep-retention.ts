import type { LedgerLine } from '../../domain/delivery.js';
import { RETENTION_CLASSES } from '../../domain/retention-class.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { Pause } from '../../lib/time/cooperative-yield.js';
import { StoreError } from '../../store/object-store.js';
import {
  type ExpiredObject,
  type ExpiringStore,
  type ExpirySearch,
  expiredLedger,
  expiredObjects,
  LEDGER_STEPS,
} from './expired-objects.js';
import { keysBeingRemoved, type RemovalParts, recordAbandoned, removeExpired } from './removal.js';
import {
  createRetentionTally,
  MAX_FAULTS,
  type RetentionReport,
  type RetentionTally,
} from './retention-report.js';
import { readRetentionState, writeRetentionState } from './retention-state.js';
import type { ExpiredBefore, RetentionPeriods } from './retention-view.js';

export interface RetentionParts {
  readonly store: ExpiringStore;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly periods: RetentionPeriods;
  /** Name of the operator who ordered the sweep; null for the receiver itself. */
  readonly actor: string | null;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export interface SweepRetentionOptions {
  /** Report what has ended, remove nothing. Default false. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly pause?: Pause | undefined;
  readonly onProgress?: ((progress: Pick<RetentionTally, 'objects' | 'bytes'>) => void) | undefined;
}

/** Objects of one removal: the objects of a job stay together up to the larger number. */
const BATCH = 256;
const MAX_BATCH = 2_048;

class Interrupted extends Error {}

/**
 * Removes the objects that are older than the period of their kind, and records it in the ledger. Killed at any point, the
 * next sweep goes on, and records what this one removed. Any number of processes may sweep the same store.
 *
 * Failures of the store become part of the report, and the rest goes on.
 */
export async function sweepRetention(
  parts: RetentionParts,
  options: SweepRetentionOptions = {},
): Promise<RetentionReport> {
  const { store, periods, clock } = parts;
  const { dryRun = false } = options;
  const startedAt = clock();
  const expiredBefore = endedBeforeAt(periods, startedAt);
  const tally = createRetentionTally(periods, expiredBefore);
  try {
    // First: what is missing from then on is known to have ended.
    if (!dryRun) {
      await announce(parts, expiredBefore);
      await finishAbandoned(parts, tally);
    }
    const elsewhere = dryRun ? NOTHING : await keysBeingRemoved(store);
    const take = createTaker(parts, options, tally);
    const search = {
      ...{
        store,
        expiredBefore,
        onFault: tally.fault,
        onForeign: tally.foreign,
        signal: options.signal,
        pause: options.pause,
      },
      ...(dryRun ? {} : { onEmpty: removeEmpty(store, tally) }),
    };
    await take(without(elsewhere, expiredObjects(search), tally));
    if (periods.ledger !== null) await sweepLedger(search, take, tally);
    // Also when something could not be removed: another sweep at once would fare no better.
    if (!dryRun) await finish(parts);
  } catch (error) {
    if (!(error instanceof Interrupted || error instanceof StoreError)) throw error;
    tally.fault(null, error.message);
  }
  return tally.report({
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(clock()).toISOString(),
    store: store.location,
    dryRun,
  });
}

/** Throws `StoreError`. */
export async function finishAbandoned(parts: RetentionParts, tally: Pick<RetentionTally, 'add' | 'fault'>) {
  addLines(tally, await recordAbandoned(removalParts(parts, tally), parts.clock()));
}

function addLines(tally: Pick<RetentionTally, 'add'>, lines: readonly LedgerLine[]): void {
  for (const { expired, bytes } of lines)
    if (expired !== undefined) tally.add(expired.kind, expired.objects, bytes);
}

function endedBeforeAt(periods: RetentionPeriods, now: number): ExpiredBefore {
  return (kind) => now - (periods[kind] ?? Number.POSITIVE_INFINITY);
}

function removalParts(
  { store, ledger, actor }: RetentionParts,
  tally: Pick<RetentionTally, 'fault'>,
): RemovalParts {
  return { store, ledger, actor, onFault: tally.fault };
}

async function announce({ store, periods }: RetentionParts, expiredBefore: ExpiredBefore): Promise<void> {
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

/** Such folders are left by a process that died. One that cannot be removed costs nothing. */
function removeEmpty({ expiry }: ExpiringStore, { fault }: RetentionTally) {
  return (folder: string) =>
    expiry.removeEmpty(folder).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      fault(folder, error.message);
    });
}

async function finish({ store, periods, clock }: RetentionParts): Promise<void> {
  const state = await readRetentionState(store);
  await writeRetentionState(store, { ...state, finishedAt: new Date(clock()).toISOString(), periods });
}

const NOTHING: ReadonlySet<string> = new Set();

/** Leaves out what another process removes, or was removing when it died: its removal counts them. */
async function* without(
  keys: ReadonlySet<string>,
  expired: AsyncIterable<ExpiredObject>,
  tally: Pick<RetentionTally, 'skip'>,
) {
  for await (const each of expired) {
    if (keys.has(each.found.key)) tally.skip();
    else yield each;
  }
}

type Take = (expired: AsyncIterable<ExpiredObject>) => Promise<void>;

/** Takes what has ended in batches, so that memory does not grow with its number. */
function createTaker(
  parts: RetentionParts,
  { dryRun = false, signal, onProgress }: SweepRetentionOptions,
  tally: RetentionTally,
): Take {
  async function takeBatch(batch: readonly ExpiredObject[]): Promise<void> {
    if (batch.length === 0) return;
    addLines(tally, await removeExpired(removalParts(parts, tally), batch, parts.clock()));
    onProgress?.(tally);
    if (tally.faults >= MAX_FAULTS) throw new Interrupted(`the sweep ended after ${MAX_FAULTS} failures`);
  }

  return async (expired) => {
    let batch: ExpiredObject[] = [];
    for await (const each of expired) {
      throwIfAborted(signal);
      if (dryRun) {
        tally.add(each.kind, 1, each.found.size);
        onProgress?.(tally);
        continue;
      }
      const isFull = batch.length >= BATCH && batch.at(-1)?.jobId !== each.jobId;
      if (isFull || batch.length >= MAX_BATCH) {
        await takeBatch(batch);
        batch = [];
      }
      batch.push(each);
    }
    throwIfAborted(signal);
    await takeBatch(batch);
  };
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Interrupted('the sweep was interrupted; the next one goes on');
}

/** Each folder only when nothing is left in the ones before it. */
async function sweepLedger(search: ExpirySearch, take: Take, tally: RetentionTally): Promise<void> {
  const before = tally.faults;
  for (const folder of LEDGER_STEPS) {
    if (tally.faults > before) return;
    await take(expiredLedger(search, folder));
  }
}
