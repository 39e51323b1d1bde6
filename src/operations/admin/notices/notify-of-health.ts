import { repeat } from '../../../lib/time/repeat.js';
import { createLeaseWatch } from '../../../store/lease-watch.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { type EventFilter, eventName } from '../../../subscribers/job-event.js';
import type { Outbox } from '../../../subscribers/outbox.js';
import type { Health } from '../api/answers/health.js';
import {
  afterDelivery,
  afterLook,
  CLOSE_AFTER,
  dueEvent,
  type Seen,
  type TrackedIssue,
  type TrackedIssues,
} from './notice-state.js';
import { createNoticeStore, type NoticesState } from './notice-store.js';

export interface NoticesOptions {
  /** Subscribers that ask for `health.opened` or `health.closed`. */
  readonly subscribers: ReadonlyMap<string, EventFilter>;
  readonly outbox: Pick<Outbox, 'send'>;
  readonly store: ObjectStore;
  /** Name of this replica. */
  readonly replica: string;
  readonly health: () => Promise<Health>;
  /** Called with errors other than the store's. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two checks of the verdict. Default 15,000. */
  readonly interval?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Milliseconds without a heartbeat after which another replica sends the notices: several checks. */
const LEASE = 60_000;
const MAX_PAUSE = 10 * 60_000;

/** The subscribers that are notified of the receiver's health. */
export function noticeSubscribers(all: ReadonlyMap<string, EventFilter>): Map<string, EventFilter> {
  return new Map([...all].filter(([, { events }]) => events.some((name) => name.startsWith('health.'))));
}

/**
 * Notifies subscribers when an issue of the verdict begins and ends. One replica does, by a claim in the store. While the
 * store is down its memory is the state: the replica that held the claim goes on with it, and one that never reached the
 * store since its start acts on its own.
 */
export function createHealthNotices(options: NoticesOptions) {
  const { subscribers, outbox, replica, health, interval = 15_000, clock = Date.now } = options;
  const store = createNoticeStore(options.store, replica, createLeaseWatch(LEASE));
  const knownByName = new Map<string, TrackedIssues>();
  const pauses = new Map<string, { readonly failures: number; readonly until: number }>();
  const sending = new Map<string, Promise<void>>();
  /** What the store knows. */
  let saved: NoticesState['subscribers'] = {};
  let held: NoticesState | null = null;
  let looking: ReturnType<typeof repeat> | null = null;
  /** Whether this replica has ever read the state: then it knows that another one is there for it. */
  let hasRead = false;

  /** Whether this replica sends notices now. */
  async function isOurs(): Promise<boolean> {
    try {
      if (held !== null && (await store.isSuperseded(held.claim))) held = null;
      if (held !== null) return true;
      const stored = await store.read();
      hasRead = true;
      held = await store.takeOver(stored);
      for (const name of subscribers.keys()) {
        const own = knownByName.get(name) ?? {};
        const after =
          held === null
            ? leftWithoutClaim(saved[name] ?? {}, own)
            : goOnWith(stored.subscribers[name] ?? {}, own);
        knownByName.set(name, after);
      }
      saved = held === null ? {} : stored.subscribers;
      return held !== null;
    } catch {
      return held !== null || !hasRead;
    }
  }

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

  async function save(): Promise<void> {
    if (held === null) return;
    const state = Object.fromEntries(knownByName);
    held = { ...held, heartbeatAt: new Date().toISOString(), subscribers: state };
    await store.save(held).then(
      () => {
        saved = state;
      },
      // While the store fails, the memory goes on.
      () => undefined,
    );
  }

  async function sendTo(name: string, events: readonly string[], signal: AbortSignal): Promise<void> {
    for (const known of Object.values(knownByName.get(name) ?? {})) {
      const event = dueEvent(known, options.store.location, clock());
      if (event === null) continue;
      if (events.includes(eventName(event))) {
        const { delivered } = await outbox.send(name, event, signal);
        if (!delivered) return void pauses.set(name, pauseAfter(pauses.get(name)?.failures ?? 0));
      }
      pauses.delete(name);
      knownByName.set(name, afterDelivery(knownByName.get(name) ?? {}, event));
    }
  }

  function pauseAfter(failures: number) {
    const pause = Math.min(interval * 2 ** failures, MAX_PAUSE);
    return { failures: failures + 1, until: clock() + pause };
  }

  /** A subscriber that hangs delays neither the others nor the heartbeat. */
  function sendPending(signal: AbortSignal): void {
    for (const [name, { events }] of subscribers) {
      if (sending.has(name) || (pauses.get(name)?.until ?? 0) > clock()) continue;
      const sent = sendTo(name, events, signal)
        .catch(options.onError)
        .finally(() => sending.delete(name));
      sending.set(name, sent);
    }
  }

  /** One look: decides, saves, then sends, so that a replica that dies in between sends the same notice again. */
  async function look(signal: AbortSignal): Promise<void> {
    try {
      if (await isOurs()) {
        const seen = seenIn(await health());
        for (const name of subscribers.keys()) {
          knownByName.set(name, afterLook(knownByName.get(name) ?? {}, seen, clock()));
        }
        await save();
      }
      sendPending(signal);
    } catch (error) {
      options.onError(error);
    }
  }

  return {
    look,
    /** Settles when no notice is being sent. */
    whenSent: () => Promise.all(sending.values()),
    /** Without a subscriber nothing runs and no request is made. */
    start() {
      if (subscribers.size > 0) looking = repeat(look, { interval, firstWithin: interval });
    },
    /** Another replica can go on at once. */
    async stop() {
      await looking?.stop();
      await Promise.all(sending.values());
      if (held === null) return;
      const last = { ...held, subscribers: Object.fromEntries(knownByName), heartbeatAt: null };
      await store.save(last).catch(() => undefined);
    },
  };
}

/** While something cannot be read, an issue that does not show may still be there. */
function seenIn({ verdict, store, unknown }: Health): Seen {
  return { issues: verdict.issues, whole: store.writable && Object.keys(unknown).length === 0 };
}

function mapped(tracked: TrackedIssues, change: (known: TrackedIssue) => TrackedIssue): TrackedIssues {
  return Object.fromEntries(Object.entries(tracked).map(([issue, known]) => [issue, change(known)]));
}
