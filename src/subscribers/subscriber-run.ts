import { setTimeout as sleep } from 'node:timers/promises';
import { isRepetition } from '../domain/announced-event.js';
import { isInScope, scopeWithin } from '../domain/rights.js';
import { fetchFromLog } from '../ledger/log/merged-segments.js';
import { parseSegment } from '../ledger/parse-segment.js';
import { retryingReads } from '../ledger/retrying-reads.js';
import { LEASE } from '../store/lease-watch.js';
import type { ObjectStore } from '../store/object-store.js';
import { createAnnouncements, type IsRecorded, recreateEvent } from './announcements.js';
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
import { EventSender } from './send/event-sender.js';
import type { SentLog } from './send/sent-log.js';
import type { Subscriber } from './subscriber.js';

/** Milliseconds between steps of a sender. */
export interface OutboxTimes {
  /** Milliseconds between reads of a quiet ledger, and of a busy one. */
  readonly poll: number;
  readonly busyPoll: number;
  /** Milliseconds between saves of a changing state, and of an unchanged one. */
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
  readonly isRecorded?: IsRecorded | undefined;
  readonly observer: SenderObserver;
  /** Called with a temporary error that delays the sender; it retries by itself. */
  readonly onError: (error: unknown, hour: string | null) => void;
  /** Milliseconds that requests in flight get after `stop`. */
  readonly stopWithin: number;
  readonly clock: () => number;
  readonly random: () => number;
  readonly times: OutboxTimes;
}

/** The sender of one subscriber, as long as this replica holds the claim. */
export class SubscriberRun {
  /** Resolves when it has stopped, or another replica has taken over. */
  readonly ended: Promise<void>;
  readonly #options: SubscriberRunOptions;
  readonly #claimed: OutboxState;
  readonly #announcements: ReturnType<typeof createAnnouncements>;
  readonly #sender: EventSender;
  readonly #follower: ReturnType<typeof createLedgerFollower>;
  readonly #ending = new AbortController();
  #wakeUp = new AbortController();
  #isSuperseded = false;
  #savedAt = performance.now();
  #saved = '';

  constructor(options: SubscriberRunOptions, claimed: OutboxState) {
    const { store, clock, onError, isRecorded } = options;
    this.#options = options;
    this.#claimed = claimed;
    this.#announcements = createAnnouncements(store, Date.parse(claimed.since), isRecorded);
    this.#sender = this.#createSender();
    this.#follower = createLedgerFollower({
      store: retryingReads(store),
      clock,
      state: claimed,
      onFault: (hour, error) => onError(error, hour),
    });
    this.#ending.signal.addEventListener('abort', () => this.#wakeUp.abort());
    this.ended = this.#run();
  }

  /** Reads the ledger soon, because this replica has written to it. */
  wake(): void {
    this.#wakeUp.abort();
  }

  /** Retries all waiting events at once, because an operator's event was delivered. */
  addressWorks(): void {
    this.#sender.addressWorks();
  }

  /** Lets requests in flight end, saves the state and releases the claim. */
  stop(): Promise<void> {
    this.#ending.abort();
    return this.ended;
  }

  #createSender() {
    const { name, subscriber, store, states, endpoint, sent, isErased, observer, clock, random, times } =
      this.#options;
    const followed = scopeWithin(null, subscriber.sources);
    // Retries use a monotonic clock, so that a system clock that is set forward does not expire events.
    const began = clock() - performance.now();
    return new EventSender({
      store,
      endpoint,
      sent,
      isErased,
      observer,
      random,
      clock: () => began + performance.now(),
      subscriber: name,
      maxInFlight: subscriber.maxInFlight,
      state: this.#claimed,
      documents: states,
      onError: (error) => this.#options.onError(error, null),
      // Drops events of sources that the subscriber no longer follows.
      findEvent: async (waiting) => (isInScope(followed, waiting.source) ? findEvent(store, waiting) : null),
      isHolding: () => performance.now() - this.#savedAt < LEASE,
      times: times.retry,
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const loops = [this.#follow(), this.#saveRegularly()];
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
    await this.#sender.stop(this.#isSuperseded ? 0 : this.#options.stopWithin);
    await Promise.all(loops);
    // A superseded run must not write state.
    if (this.#isSuperseded) await this.#options.sent.flush();
    else await this.#save(true).catch((error: unknown) => this.#options.onError(error, null));
  }

  async #follow(): Promise<void> {
    const { times, onError } = this.#options;
    const ending = this.#ending.signal;
    while (!ending.aborted) {
      let pause = times.poll;
      try {
        for await (const part of this.#follower.newLines()) {
          pause = times.busyPoll;
          await this.#send(part);
        }
      } catch (error) {
        if (!ending.aborted) onError(error, null);
      }
      // A busy replica writes many segments a second, and every poll costs a listing.
      await sleep(times.busyPoll, null, { signal: ending, ref: false }).catch(() => undefined);
      if (ending.aborted) return;
      const { signal } = this.#wakeUp;
      await sleep(pause - times.busyPoll, null, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) this.#wakeUp = new AbortController();
    }
  }

  async #send({ segment, lines }: SegmentLines): Promise<void> {
    this.#ending.signal.throwIfAborted();
    const from = this.#follower.progress();
    const tasks: EventTask[] = [];
    // Within a segment, a repetition can come before the line that it repeats.
    const ordered = [...lines].sort((a, b) => Number(isRepetition(a)) - Number(isRepetition(b)));
    try {
      for (const line of ordered) {
        const events = await this.#announcements.of(line);
        for (const event of events)
          tasks.push({ event, segment, from, isOwnLine: event.id === line.deliveryId });
      }
    } catch (error) {
      // The lines are read again.
      for (const { event } of tasks) this.#announcements.forget(event);
      throw error;
    }
    await this.#sender.accept(tasks.filter(({ event }) => isWanted(event, this.#options.subscriber)));
  }

  async #saveRegularly(): Promise<void> {
    const { states, times, onError } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await sleep(times.save, null, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        this.#isSuperseded = await states.isSuperseded(this.#claimed.claim);
        if (this.#isSuperseded) this.#ending.abort();
        else {
          await this.#save(false);
          await this.#endPause();
        }
      } catch (error) {
        onError(error, null);
      }
    }
  }

  async #save(isLast: boolean): Promise<void> {
    const { sent, states, clock, times } = this.#options;
    const began = performance.now();
    const state = this.#snapshot();
    const taken = [...this.#sender.takenBatches];
    // Attempts are durable before the position that passes them, so that no kill loses their record.
    await sent.flush();
    const text = JSON.stringify(state);
    if (!isLast && text === this.#saved && began - this.#savedAt < times.heartbeat) return;
    await states.save({ ...state, heartbeatAt: isLast ? null : new Date(clock()).toISOString() });
    this.#saved = text;
    this.#savedAt = began;
    // A run that was suspended meanwhile must not delete batches of its successor.
    if (taken.length === 0 || (await states.isSuperseded(this.#claimed.claim))) return;
    for (const name of taken) {
      await states.deleteBatch(name).catch(() => undefined);
      this.#sender.takenBatches.delete(name);
    }
  }

  /** Consistent state: lines count as read only once each of their events was sent, waits for a retry, or is dead. */
  #snapshot(): Omit<OutboxState, 'heartbeatAt'> {
    const { claim, owner, since } = this.#claimed;
    return {
      v: 1,
      claim,
      owner,
      since,
      ...(this.#sender.oldestUntried()?.from ?? this.#follower.progress()),
      ...this.#sender.snapshot(),
    };
  }

  /** Ends the pause if another process delivered an event: a command, or a replica that does not hold the claim. */
  async #endPause(): Promise<void> {
    const { openSince } = this.#sender.snapshot();
    if (openSince !== null && (await this.#options.states.endedPause()) === openSince) this.addressWorks();
  }
}

/**
 * Reads a waiting event from the ledger; null when the line is gone. Throws `StoreError`, also when the object that may have the line is
 * damaged.
 */
export async function findEvent(
  store: ObjectStore,
  { id, jobId, segment }: WaitingEvent,
): Promise<JobEvent | null> {
  const found = await fetchFromLog(store, segment);
  for (const { line } of found === null ? [] : parseSegment(found.content).entries) {
    if (line.jobId !== jobId) continue;
    const event = await recreateEvent(store, line, id);
    if (event !== null) return event;
  }
  return null;
}
