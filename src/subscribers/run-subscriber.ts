import { setTimeout as sleep } from 'node:timers/promises';
import { isRepetition } from '../domain/announced-event.js';
import { fetchFromLog } from '../ledger/log/merged-segments.js';
import { parseSegment } from '../ledger/parse-segment.js';
import { LEASE } from '../store/lease-watch.js';
import type { ObjectStore } from '../store/object-store.js';
import { announcedAs, createAnnouncements } from './announcements.js';
import { createLedgerFollower } from './follow/ledger-follower.js';
import type { SegmentLines } from './follow/lines-by-number.js';
import { isWanted } from './job-event.js';
import type { SenderObserver } from './outbox-observer.js';
import type { OutboxState, WaitingEvent } from './outbox-state.js';
import type { OutboxStore } from './outbox-store.js';
import type { JobEvent } from './receiver-event.js';
import type { RetryTimes } from './send/attempt-policy.js';
import type { Endpoint } from './send/endpoint.js';
import type { EventTask } from './send/event-attempts.js';
import { createEventSender } from './send/event-sender.js';
import type { SentLog } from './send/sent-log.js';
import type { Subscriber } from './subscriber.js';

/** Milliseconds between steps of a sender. */
export interface OutboxTimes {
  /** Milliseconds between reads of a quiet ledger, and of a busy one. */
  readonly poll: number;
  readonly busyPoll: number;
  /** Milliseconds between saves while something changes, and at the latest. */
  readonly save: number;
  readonly heartbeat: number;
  readonly retry?: RetryTimes;
}

export const OUTBOX_TIMES: OutboxTimes = { poll: 5_000, busyPoll: 1_000, save: 2_000, heartbeat: 10_000 };

export interface SubscriberRunOptions {
  readonly name: string;
  readonly subscriber: Subscriber;
  readonly store: ObjectStore;
  readonly states: OutboxStore;
  readonly endpoint: Pick<Endpoint, 'send'>;
  readonly sent: SentLog;
  /** Whether a job is erased. Rejects with `StoreError`. */
  readonly isErased: (jobId: string) => Promise<boolean>;
  readonly observer: SenderObserver;
  /** Called with what keeps the sender from its work for a while; it goes on by itself. */
  readonly onError: (error: unknown, hour: string | null) => void;
  /** Milliseconds that requests in flight get after `stop`. */
  readonly stopWithin: number;
  readonly clock: () => number;
  readonly random: () => number;
  readonly times: OutboxTimes;
}

/** The sender of one subscriber, as long as this replica holds the claim. */
export interface SubscriberRun {
  /** Reads the ledger soon: this replica has written to it. */
  wake(): void;
  /** An operator sent an event with success: what waits goes at once. */
  addressWorks(): void;
  /** Milliseconds since the epoch of the oldest event that is not sent; null when all are. */
  oldestUnsent(): number | null;
  waiting(): number;
  /** Lets requests in flight end, saves the state and releases the claim. */
  stop(): Promise<void>;
  /** Resolves when it has stopped, or another replica has taken over. */
  readonly ended: Promise<void>;
}

export function runSubscriber(options: SubscriberRunOptions, claimed: OutboxState): SubscriberRun {
  const { name, subscriber, store, states, clock, times, onError } = options;
  const ending = new AbortController();
  ending.signal.addEventListener('abort', () => wakeUp.abort());
  const since = Date.parse(claimed.since);
  const announcements = createAnnouncements(store, since);
  let isSuperseded = false;
  let savedAt = performance.now();
  let saved = '';
  let wakeUp = new AbortController();

  // The time of retries goes on evenly, so that a clock that is set forward does not end events.
  const began = clock() - performance.now();
  const sender = createEventSender({
    ...options,
    clock: () => began + performance.now(),
    subscriber: name,
    maxInFlight: subscriber.maxInFlight,
    state: claimed,
    findEvent: (waiting) => findEvent(store, waiting),
    isHolding: () => performance.now() - savedAt < LEASE,
    times: times.retry,
  });
  const follower = createLedgerFollower({
    ...options,
    state: claimed,
    onFault: (hour, error) => onError(error, hour),
  });

  async function send({ segment, lines }: SegmentLines): Promise<void> {
    ending.signal.throwIfAborted();
    const from = follower.progress();
    const tasks: EventTask[] = [];
    // Within a segment, a repetition can come before the line that it repeats.
    const ordered = [...lines].sort((a, b) => Number(isRepetition(a)) - Number(isRepetition(b)));
    try {
      for (const line of ordered) {
        const events = await announcements.of(line);
        for (const event of events)
          tasks.push({ event, segment, from, isOwnLine: event.id === line.deliveryId });
      }
    } catch (error) {
      // The lines are read again.
      for (const { event } of tasks) announcements.forget(event);
      throw error;
    }
    await sender.accept(tasks.filter(({ event }) => isWanted(event, subscriber)));
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      let pause = times.poll;
      try {
        for await (const part of follower.newLines()) {
          pause = times.busyPoll;
          await send(part);
        }
      } catch (error) {
        if (!ending.signal.aborted) onError(error, null);
      }
      // A busy replica writes many segments a second, and every poll costs a listing.
      await sleep(times.busyPoll, null, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (ending.signal.aborted) return;
      const { signal } = wakeUp;
      await sleep(pause - times.busyPoll, null, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) wakeUp = new AbortController();
    }
  }

  function oldestUnsent(): number | null {
    const open = [follower.unreadSince(), sender.oldest()].filter((time) => time !== null);
    return open.length === 0 ? null : Math.min(...open);
  }

  /** State of one moment: lines count as read only once each of their events was sent, waits for its next attempt, or is dead. */
  function snapshot(): Omit<OutboxState, 'heartbeatAt'> {
    const { v, claim, owner } = claimed;
    return {
      ...{ v, claim, owner, since: claimed.since },
      ...(sender.oldestUntried()?.from ?? follower.progress()),
      ...sender.snapshot(),
    };
  }

  async function save(isLast: boolean): Promise<void> {
    const began = performance.now();
    const state = snapshot();
    // What the position passes is on record first, so that no kill loses it.
    await options.sent.flush();
    const text = JSON.stringify(state);
    if (!isLast && text === saved && began - savedAt < times.heartbeat) return;
    await states.save({ ...state, heartbeatAt: isLast ? null : new Date(clock()).toISOString() });
    saved = text;
    savedAt = began;
  }

  /** Another process has sent an event with success: a command, or a replica that does not hold the claim. */
  async function endPause(): Promise<void> {
    const { openSince } = sender.snapshot();
    if (openSince !== null && (await states.endedPause()) === openSince) sender.addressWorks();
  }

  async function saveRegularly(): Promise<void> {
    while (!ending.signal.aborted) {
      await sleep(times.save, null, { signal: ending.signal, ref: false }).catch(() => undefined);
      if (ending.signal.aborted) return;
      try {
        isSuperseded = await states.isSuperseded(claimed.claim);
        if (isSuperseded) ending.abort();
        else {
          await save(false);
          await endPause();
        }
      } catch (error) {
        onError(error, null);
      }
    }
  }

  async function run(): Promise<void> {
    const loops = [follow(), saveRegularly()];
    if (!ending.signal.aborted) {
      await new Promise((resolve) => ending.signal.addEventListener('abort', resolve, { once: true }));
    }
    await sender.stop(isSuperseded ? 0 : options.stopWithin);
    await Promise.all(loops);
    // A superseded run must not write state.
    if (isSuperseded) await options.sent.flush();
    else await save(true).catch((error: unknown) => onError(error, null));
  }

  return {
    wake: () => wakeUp.abort(),
    addressWorks: sender.addressWorks,
    oldestUnsent,
    waiting: () => sender.snapshot().waiting.length,
    ended: run(),
    stop() {
      ending.abort();
      return this.ended;
    },
  };
}

/**
 * The event that waits, read from the ledger; null when the line is gone. Throws as the store does, and when something is damaged that may
 * have the line.
 */
export async function findEvent(
  store: ObjectStore,
  { id, jobId, segment }: WaitingEvent,
): Promise<JobEvent | null> {
  const found = await fetchFromLog(store, segment);
  for (const { line } of found === null ? [] : parseSegment(found.content).entries) {
    if (line.jobId !== jobId) continue;
    const event = await announcedAs(store, line, id);
    if (event !== null) return event;
  }
  return null;
}
