import { NOTICES_FOLDER } from '../../archive/layout.js';
import { repeat } from '../../lib/time/repeat.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { type EventFilter, eventName } from '../../subscribers/job-event.js';
import type { Outbox } from '../../subscribers/outbox.js';
import type { Health } from '../answers/health.js';
import {
  afterDelivery,
  dueEvent,
  type Seen,
  type TrackedIssues,
  takenOver,
  updateTracked,
} from './notice-state.js';

export interface NoticesOptions {
  /** Subscribers that ask for `health.opened` or `health.closed`. */
  readonly subscribers: ReadonlyMap<string, EventFilter>;
  readonly outbox: Pick<Outbox, 'send'>;
  readonly store: ObjectStore;
  readonly isWritable: () => boolean;
  /** Whether this replica is the one that sends. Rejects with `StoreError`. */
  readonly isFirst: () => Promise<boolean>;
  readonly health: () => Promise<Health>;
  /** Called with errors other than the store's. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Milliseconds between evaluations of the verdict. */
const INTERVAL = 15_000;
/** Milliseconds until a retry after a subscriber did not accept a notice. */
const PAUSE = 60_000;

/** Document with the tracked issues by subscriber. */
const STATE_KEY = `${NOTICES_FOLDER}state.json`;
type Notified = Readonly<Record<string, TrackedIssues>>;

/** The subscribers that are notified of the receiver's health. */
export function noticeSubscribers(all: ReadonlyMap<string, EventFilter>): Map<string, EventFilter> {
  return new Map([...all].filter(([, { events }]) => events.some((name) => name.startsWith('health.'))));
}

/**
 * Notifies subscribers when an issue of the verdict begins and ends. Only the first replica sends. While the store cannot be written, the
 * same replica continues with the state in its memory.
 */
export function createHealthNotices(options: NoticesOptions) {
  const { subscribers, outbox, store, health, onError, clock = Date.now } = options;
  const known = new Map<string, TrackedIssues>();
  /** Times of failed notices by subscriber and issue; the last failure is last. */
  const failures = new Map<string, Map<string, number>>();
  let isSender = false;
  let saved = '';
  let looking: ReturnType<typeof repeat> | null = null;

  const issuesOf = (name: string): TrackedIssues => known.get(name) ?? {};

  async function chooseSender(): Promise<void> {
    const isFirst = await options.isFirst();
    if (isFirst && !isSender) {
      const stored = ((await readDocument(store, STATE_KEY))?.subscribers ?? {}) as Notified;
      for (const name of subscribers.keys()) known.set(name, takenOver(stored[name] ?? {}, clock()));
    }
    isSender = isFirst;
  }

  async function save(): Promise<void> {
    const text = JSON.stringify({ v: 1, subscribers: Object.fromEntries(known) });
    if (text === saved) return;
    await store.replace(STATE_KEY, Buffer.from(text), DOCUMENT_HEADERS);
    saved = text;
  }

  async function sendTo(name: string, events: readonly string[], signal: AbortSignal): Promise<void> {
    const failed = failures.get(name) ?? new Map<string, number>();
    failures.set(name, failed);
    if (Math.abs(clock() - ([...failed.values()].at(-1) ?? Number.NEGATIVE_INFINITY)) < PAUSE) return;
    const tracked = issuesOf(name);
    // Failed ones last, so that a notice that is never accepted holds up no others.
    const names = [...Object.keys(tracked).filter((issue) => !failed.has(issue)), ...failed.keys()];
    for (const issue of names) {
      failed.delete(issue);
      const event = tracked[issue] === undefined ? null : dueEvent(tracked[issue], store.location, clock());
      if (event === null) continue;
      const isWanted = events.includes(eventName(event));
      if (isWanted && !(await outbox.send(name, event, signal)).delivered)
        return void failed.set(issue, clock());
      known.set(name, afterDelivery(issuesOf(name), event));
    }
  }

  /** Updates and saves the state before it sends, so that after a crash the same notice is sent again. */
  async function notify(signal: AbortSignal): Promise<void> {
    try {
      // While the store fails, the state in memory is used.
      if (options.isWritable()) await chooseSender().catch(() => undefined);
      if (!isSender) return;
      const seen = seenIn(await health());
      for (const name of subscribers.keys()) known.set(name, updateTracked(issuesOf(name), seen, clock()));
      await save().catch(() => undefined);
      await Promise.all([...subscribers].map(([name, { events }]) => sendTo(name, events, signal)));
    } catch (error) {
      onError(error);
    }
  }

  return {
    notify,
    /** Does nothing without a subscriber. */
    start() {
      if (subscribers.size > 0) looking = repeat(notify, { interval: INTERVAL, firstWithin: INTERVAL });
    },
    /** Saves the last deliveries. */
    async stop() {
      await looking?.stop();
      if (isSender) await save().catch(() => undefined);
    },
  };
}

/** `whole` is false while facts are unknown, because an absent issue may still exist. */
function seenIn({ verdict, store, unknown }: Health): Seen {
  return { issues: verdict.issues, whole: store.writable && Object.keys(unknown).length === 0 };
}
