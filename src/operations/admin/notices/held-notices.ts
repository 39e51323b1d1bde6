import { CLOSE_AFTER, type TrackedIssue, type TrackedIssues } from './notice-state.js';
import type { NoticeStore, NoticesState } from './notice-store.js';

/** What each subscriber knows of the receiver's health. */
export interface HeldNotices {
  /** Whether this replica sends notices now. Never rejects. */
  isOurs(): Promise<boolean>;
  of(subscriber: string): TrackedIssues;
  set(subscriber: string, tracked: TrackedIssues): void;
  /** With the claim alone. While the store fails, the memory goes on. */
  save(): Promise<void>;
  /** Another replica can go on at once. */
  release(): Promise<void>;
}

/**
 * One replica holds the notices, by a claim in the store. While the store is down its memory is the state: the replica that held the claim
 * goes on with it, and one that never reached the store since its start acts on its own.
 */
export function createHeldNotices(
  store: NoticeStore,
  subscribers: readonly string[],
  clock: () => number,
): HeldNotices {
  const knownByName = new Map<string, TrackedIssues>();
  /** What the store knows. */
  let saved: NoticesState['subscribers'] = {};
  let held: NoticesState | null = null;
  /** Whether this replica has ever read the state: then it knows that another one is there for it. */
  let hasRead = false;

  const of = (subscriber: string) => knownByName.get(subscriber) ?? {};

  /** With the claim: what the store knows, and what this replica announced without it. Nothing is over at once. */
  function goOnWith(stored: TrackedIssues, own: TrackedIssues): TrackedIssues {
    return mapped({ ...own, ...stored }, (known) => ({ ...known, lastSeen: clock() }));
  }

  /** Without the claim: what this replica announced while it could not save is over for it. */
  function leftWithoutClaim(lastSaved: TrackedIssues, own: TrackedIssues): TrackedIssues {
    const orphans = Object.entries(own).filter(([issue, { told }]) => told !== null && !(issue in lastSaved));
    return mapped(Object.fromEntries(orphans), (known) => ({
      ...known,
      lastSeen: Math.min(known.lastSeen, clock() - CLOSE_AFTER),
    }));
  }

  return {
    async isOurs() {
      try {
        if (held !== null && (await store.isSuperseded(held.claim))) held = null;
        if (held !== null) return true;
        const stored = await store.read();
        hasRead = true;
        held = await store.takeOver(stored);
        for (const name of subscribers) {
          const after =
            held === null
              ? leftWithoutClaim(saved[name] ?? {}, of(name))
              : goOnWith(stored.subscribers[name] ?? {}, of(name));
          knownByName.set(name, after);
        }
        saved = held === null ? {} : stored.subscribers;
        return held !== null;
      } catch {
        // The memory goes on.
        return held !== null || !hasRead;
      }
    },
    of,
    set: (subscriber, tracked) => void knownByName.set(subscriber, tracked),
    async save() {
      if (held === null) return;
      const state = Object.fromEntries(knownByName);
      held = { ...held, heartbeatAt: new Date().toISOString(), subscribers: state };
      await store.save(held).then(
        () => {
          saved = state;
        },
        () => undefined,
      );
    },
    async release() {
      if (held === null) return;
      const last = { ...held, subscribers: Object.fromEntries(knownByName), heartbeatAt: null };
      await store.save(last).catch(() => undefined);
    },
  };
}

function mapped(tracked: TrackedIssues, change: (known: TrackedIssue) => TrackedIssue): TrackedIssues {
  return Object.fromEntries(Object.entries(tracked).map(([issue, known]) => [issue, change(known)]));
}
