import type { LedgerViewStatus } from '../../index/ledger-view.js';
import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import type { Health } from '../answers/health.js';
import type { Unknowable } from '../issues/verdict-words.js';

/** Reasons of unknown members of the health summary; known members are absent. */
export type UnknownFacts = Health['unknown'];
type Unknown = NonNullable<UnknownFacts[Unknowable]>;

type LedgerStatus = Pick<LedgerViewStatus, 'state' | 'error' | 'refreshedAt'>;

/**
 * Reads facts, and collects the reasons of those that could not be read.
 *
 * @param patience time-out of each fact in milliseconds, so that a store that hangs does not hold up the rest; undefined for none
 */
export function createKnownFacts(ledger: LedgerStatus, patience: number | undefined) {
  const unknown: { [Name in Unknowable]?: Unknown } = {};
  const unread = unreadLedger(ledger);
  const since = unread?.since ?? null;
  return {
    unknown: unknown as UnknownFacts,
    /**
     * Reads a fact; null when it cannot be read in time. Then the signal is aborted, and `unknown` has the reason.
     *
     * @param others further facts from the same read
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
    /** Marks facts from the ledger as unknown while it has not been read. */
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

/** Milliseconds for a fact to end after its signal, possibly with a partial result. */
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
