import type { LedgerViewStatus } from '../../index/questions/view-status.js';
import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import type { Health } from '../answers/health.js';
import type { Unknowable } from '../issues/verdict-words.js';

/** Why members of the health summary are unknown; what is known is not in it. */
export type UnknownFacts = Health['unknown'];
type Unknown = NonNullable<UnknownFacts[Unknowable]>;

type LedgerStatus = Pick<LedgerViewStatus, 'state' | 'error' | 'refreshedAt'>;

/**
 * Distinguishes facts that do not exist from facts that could not be read.
 *
 * @param patience milliseconds after which a fact is unknown: a store that hangs must not hold up the rest; undefined for none
 */
export function createKnownFacts(ledger: LedgerStatus, patience: number | undefined) {
  const unknown: { [Name in Unknowable]?: Unknown } = {};
  const unread = unreadLedger(ledger);
  const since = unread?.since ?? null;
  return {
    unknown: unknown as UnknownFacts,
    /**
     * Reads a fact; null when it cannot be read in time, which aborts the signal, and `unknown` then says why.
     *
     * @param others facts that come out of the same answer
     */
    async read<T>(
      name: Unknowable,
      fact: (signal?: AbortSignal) => Promise<T>,
      ...others: readonly Unknowable[]
    ): Promise<T | null> {
      try {
        return await within(patience, fact);
      } catch (error) {
        const why = { reason: error instanceof Error ? error.message : 'the store failed', since };
        for (const each of [name, ...others]) unknown[each] = why;
        return null;
      }
    },
    /** Facts from the ledger that the lines in memory do not show. */
    noteUnread(...names: readonly Unknowable[]): void {
      if (unread !== null) for (const name of names) unknown[name] = unread;
    },
  };
}

/** The fact, or a rejection when it takes longer than `patience` milliseconds. */
export function within<T>(
  patience: number | undefined,
  fact: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  return patience === undefined ? fact() : readWithin(patience, fact);
}

/** Milliseconds that a fact has to end by its signal: it may know what it found before. */
const GRACE = 500;

async function readWithin<T>(patience: number, fact: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const message = `store or index did not answer within ${patience} ms`;
  const signal = AbortSignal.timeout(patience);
  return withDeadline(fact(signal), patience + GRACE, message).catch((error: unknown) => {
    throw error === signal.reason ? new DeadlineError(message) : error;
  });
}

function unreadLedger({ state, error, refreshedAt }: LedgerStatus): Unknown | null {
  if (error !== null) return { reason: `the ledger cannot be read: ${error}`, since: refreshedAt };
  return state === 'loading' ? { reason: 'the ledger is still being read', since: null } : null;
}
