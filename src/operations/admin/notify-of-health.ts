import { NOTICES_FOLDER } from '../../archive/layout.js';
import { repeat } from '../../lib/time/repeat.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { type EventFilter, eventName } from '../../subscribers/job-event.js';
import type { Outbox } from '../../subscribers/outbox.js';
import type { Health } from '../answers/health.js';
import {
  afterDelivery,
  afterLook,
  dueEvent,
  type Seen,
  type TrackedIssues,
  takenOver,
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

/** Milliseconds between two looks at the verdict. */
const INTERVAL = 15_000;
/** Milliseconds between attempts at a subscriber that did not take a notice. */
const PAUSE = 60_000;

/** What subscribers know of the receiver's health, by subscriber and issue. */
const STATE_KEY = `${NOTICES_FOLDER}state.json`;
type Notified = Readonly<Record<string, TrackedIssues>>;

/** The subscribers that are notified of the receiver's health. */
export function noticeSubscribers(all: ReadonlyMap<string, EventFilter>): Map<string, EventFilter> {
  return new Map([...all].filter(([, { events }]) => events.some((name) => name.startsWith('health.'))));
}

/**
 * Notifies subscribers when an issue of the verdict begins and ends. The first of the replicas does. While the store cannot be written, it
 * stays the same one, and its memory is the state.
 */
export function createHealthNotices(options: NoticesOptions) {
  const { subscribers, outbox, store, health, onError, clock = Date.now } = options;
  const known = new Map<string, TrackedIssues>();
  /** When a subscriber did not take the notice of an issue, by both; the last failure comes last. */
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
    // A notice that is never taken holds up no others.
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

  /** Decides, saves, then sends, so that a replica that dies in between, and its successor, send the same notice again. */
  async function look(signal: AbortSignal): Promise<void> {
    try {
      // The memory goes on while the store fails.
      if (options.isWritable()) await chooseSender().catch(() => undefined);
      if (!isSender) return;
      const seen = seenIn(await health());
      for (const name of subscribers.keys()) known.set(name, afterLook(issuesOf(name), seen, clock()));
      await save().catch(() => undefined);
      await Promise.all([...subscribers].map(([name, { events }]) => sendTo(name, events, signal)));
    } catch (error) {
      onError(error);
    }
  }

  return {
    look,
    /** Without a subscriber nothing runs and no request is made. */
    start() {
      if (subscribers.size > 0) looking = repeat(look, { interval: INTERVAL, firstWithin: INTERVAL });
    },
    /** What was delivered last is saved. */
    async stop() {
      await looking?.stop();
      if (isSender) await save().catch(() => undefined);
    },
  };
}

/** While something cannot be read, an issue that does not show may still be there. */
function seenIn({ verdict, store, unknown }: Health): Seen {
  return { issues: verdict.issues, whole: store.writable && Object.keys(unknown).length === 0 };
}
