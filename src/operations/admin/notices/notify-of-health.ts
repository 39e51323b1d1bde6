import { repeat } from '../../../lib/time/repeat.js';
import { createLeaseWatch } from '../../../store/lease-watch.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { type EventFilter, eventName } from '../../../subscribers/job-event.js';
import type { Outbox } from '../../../subscribers/outbox.js';
import type { Health } from '../../answers/health.js';
import { createHeldNotices } from './held-notices.js';
import { afterDelivery, afterLook, dueEvent, type Seen } from './notice-state.js';
import { createNoticeStore } from './notice-store.js';

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
 * Notifies subscribers when an issue of the verdict begins and ends. One replica does: the one that holds what they know of it.
 */
export function createHealthNotices(options: NoticesOptions) {
  const { subscribers, outbox, replica, health, interval = 15_000, clock = Date.now } = options;
  const store = createNoticeStore(options.store, replica, createLeaseWatch(LEASE));
  const held = createHeldNotices(store, [...subscribers.keys()], clock);
  const pauses = new Map<string, { readonly failures: number; readonly until: number }>();
  const sending = new Map<string, Promise<void>>();
  let looking: ReturnType<typeof repeat> | null = null;

  async function sendTo(name: string, events: readonly string[], signal: AbortSignal): Promise<void> {
    for (const known of Object.values(held.of(name))) {
      const event = dueEvent(known, options.store.location, clock());
      if (event === null) continue;
      if (events.includes(eventName(event))) {
        const { delivered } = await outbox.send(name, event, signal);
        if (!delivered) return void pauses.set(name, pauseAfter(pauses.get(name)?.failures ?? 0));
      }
      pauses.delete(name);
      held.set(name, afterDelivery(held.of(name), event));
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
      if (await held.isOurs()) {
        const seen = seenIn(await health());
        for (const name of subscribers.keys()) held.set(name, afterLook(held.of(name), seen, clock()));
        await held.save();
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
      await held.release();
    },
  };
}

/** While something cannot be read, an issue that does not show may still be there. */
function seenIn({ verdict, store, unknown }: Health): Seen {
  return { issues: verdict.issues, whole: store.writable && Object.keys(unknown).length === 0 };
}
