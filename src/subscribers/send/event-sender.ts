import { EventEmitter, once } from 'node:events';
import type { OutboxState, WaitingEvent } from '../outbox-state.js';
import { RETRY_TIMES, type RetryTimes } from './attempt-policy.js';
import { createBreaker } from './breaker.js';
import { type AttemptOptions, createEventAttempts, type EventTask } from './event-attempts.js';
import { createWaitingEvents } from './waiting-events.js';

type SenderField = 'waiting' | 'openSince' | 'pausedUntil';

interface SenderOptions
  extends Pick<
    AttemptOptions,
    'subscriber' | 'endpoint' | 'store' | 'sent' | 'isErased' | 'findEvent' | 'observer' | 'clock' | 'random'
  > {
  readonly maxInFlight: number;
  readonly state: Pick<OutboxState, 'waiting' | 'openSince'>;
  /** Whether this replica certainly still holds the claim. */
  readonly isHolding: () => boolean;
  readonly times?: RetryTimes | undefined;
}

/** Sends the events of one subscriber: new ones in the order in which they are read, failed ones when they are due. */
interface EventSender {
  /** Takes events of a part of the ledger. Resolves once there is room for more; rejects after `stop`. */
  accept(tasks: readonly EventTask[]): Promise<void>;
  /** The event that was accepted first, of those that were not tried yet or are being tried; null without one. */
  oldestUntried(): EventTask | null;
  snapshot(): Pick<OutboxState, SenderField>;
  /** An event was sent by other means: nothing is held back any more. */
  addressWorks(): void;
  /** Time of the oldest event that is not sent, in milliseconds since the epoch; null without one. */
  oldest(): number | null;
  /** Begins no further requests, and cuts those that have not ended in time. Resolves when none is in flight. */
  stop(withinMs: number): Promise<void>;
}

/** Events that may wait for a retry. Beyond it nothing new is sent. */
const MAX_WAITING = 200;
/** Milliseconds until a replica that may have lost its claim looks again whether it may send. */
const HOLD_PAUSE = 500;

export function createEventSender(options: SenderOptions): EventSender {
  const { maxInFlight, observer, clock, random, times = RETRY_TIMES } = options;
  const { openSince } = options.state;
  const waiting = createWaitingEvents(options.state.waiting.map(withinReach));
  const queue: EventTask[] = [];
  const lowMark = Math.max(32, maxInFlight * 2);
  const aborting = new AbortController();
  const changes = new EventEmitter();
  let inFlight = 0;
  /** Waiting events that were tried while the breaker is open, since a new one was. */
  let probed = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;

  const breaker = createBreaker({
    clock,
    random,
    firstPause: times.firstPause,
    openSince: openSince === null ? null : Date.parse(openSince),
    onChange(isOpen) {
      observer.breaker(isOpen, attempts.lastFailure());
      // The address works again: what failed because it did not is due.
      if (!isOpen) waiting.makeDue(clock());
    },
  });
  const attempts = createEventAttempts({
    ...options,
    times,
    waiting,
    breaker,
    signal: aborting.signal,
    hasStopped: () => stopped,
    onEnded: next,
  });
  const { trying } = attempts;

  /** The clock of the replica that tried it may have been ahead of this one's. */
  function withinReach(event: WaitingEvent): WaitingEvent {
    const now = clock();
    return {
      ...event,
      firstTriedAt: Math.min(event.firstTriedAt, now),
      nextTryAt: Math.min(event.nextTryAt, now + times.longestPause),
    };
  }

  function pump(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    let pause = Number.POSITIVE_INFINITY;
    while (!stopped && inFlight < maxInFlight) {
      const now = clock();
      const wait = options.isHolding() ? breaker.mayStartAt(inFlight) - now : HOLD_PAUSE;
      const due = waiting.next();
      if (wait > 0) {
        if (due !== null || queue.length > 0) pause = wait;
        break;
      }
      const isOpen = breaker.openSince !== null;
      const mayTryFirst = queue.length > 0 && waiting.size + trying.size < MAX_WAITING;
      // An event that always fails must not be all that probes: a new one is tried after each round of those that wait.
      const isTurnOfFirst = isOpen && mayTryFirst && probed >= waiting.size;
      if (due !== null && !isTurnOfFirst && (due.state.nextTryAt <= now || isOpen)) {
        probed = isOpen ? probed + 1 : 0;
        void run(() => attempts.tryAgain(due));
      } else if (mayTryFirst) {
        probed = 0;
        void run(tryFirst);
      } else {
        if (due !== null) pause = due.state.nextTryAt - now;
        break;
      }
    }
    if (!stopped && Number.isFinite(pause))
      timer = setTimeout(pump, Math.min(Math.max(1, pause), 60_000)).unref();
  }

  async function run(work: () => Promise<void>): Promise<void> {
    inFlight += 1;
    try {
      await work();
    } finally {
      inFlight -= 1;
      next();
    }
  }

  async function tryFirst(): Promise<void> {
    const task = queue.shift();
    if (task !== undefined) await attempts.tryFirst(task);
  }

  function next(): void {
    changes.emit('change');
    pump();
  }

  function oldest(): number | null {
    const times = [
      ...queue.slice(0, 1).map(({ event }) => Date.parse(event.time)),
      ...[...trying].map(({ event }) => Date.parse(event.time)),
      ...waiting.states().map(({ receivedAt }) => Date.parse(receivedAt)),
    ];
    return times.length === 0 ? null : Math.min(...times);
  }

  pump();
  return {
    async accept(tasks) {
      queue.push(...tasks);
      pump();
      while (queue.length > lowMark) {
        if (stopped) throw new Error('the sender has stopped');
        await once(changes, 'change');
      }
    },
    oldest,
    oldestUntried() {
      const [first = queue[0] ?? null] = trying;
      return first;
    },
    addressWorks() {
      breaker.succeeded();
      next();
    },
    snapshot: () => ({
      waiting: waiting.states(),
      openSince: instantOf(breaker.openSince),
      pausedUntil: instantOf(breaker.pausedUntil),
    }),
    async stop(withinMs) {
      stopped = true;
      if (timer) clearTimeout(timer);
      const end = setTimeout(() => aborting.abort(), withinMs);
      while (inFlight > 0) await once(changes, 'change');
      clearTimeout(end);
      aborting.abort();
      changes.emit('change');
    },
  };
}

function instantOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
