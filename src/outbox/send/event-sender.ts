import { setTimeout as sleep } from 'node:timers/promises';
import { isErased } from '../../archive/erasure.js';
import type { JobEvent } from '../../events/receiver-event.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { Attempt, DeadEvent } from '../dead-event.js';
import { isErasable, keepDeadEvent } from '../dead-events.js';
import type { OutboxState, WaitingEvent } from '../outbox-state.js';
import { nextTry, RETRY_TIMES, type RetryTimes, verdictOf, withAttempt } from './attempt-policy.js';
import { createBreaker } from './breaker.js';
import type { Endpoint, SendResult } from './endpoint.js';

/** An event to send for the first time. */
export interface EventTask {
  readonly event: JobEvent;
  readonly hour: string;
  readonly part: string;
  /** Called once the event was sent, waits in the state for its next attempt, or is dead. */
  readonly settled: () => void;
}

/** What happens, for logs and metrics. */
export interface SenderObserver {
  sent(event: JobEvent): void;
  retried(): void;
  dead(dead: DeadEvent): void;
  breaker(isOpen: boolean, last: Attempt | null): void;
}

export interface SenderOptions {
  readonly subscriber: string;
  readonly maxInFlight: number;
  readonly endpoint: Pick<Endpoint, 'send'>;
  readonly store: ObjectStore;
  readonly state: Pick<OutboxState, SenderField>;
  /** Reads an event that waits from the ledger; null when it is not there any more. */
  readonly findEvent: (waiting: WaitingEvent) => Promise<JobEvent | null>;
  /** Whether this replica certainly still holds the claim. */
  readonly isHolding: () => boolean;
  readonly observer: SenderObserver;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly times?: RetryTimes | undefined;
}

type SenderField = 'waiting' | 'sent' | 'retried' | 'dead' | 'openSince' | 'lastSentAt' | 'lastFailure';

/** Sends the events of one subscriber: new ones in the order in which they are read, failed ones when they are due. */
export interface EventSender {
  /** Takes events of a part of the ledger. Resolves once there is room for more; rejects after `stop`. */
  accept(tasks: readonly EventTask[]): Promise<void>;
  /** Resolves when every event that was accepted is settled; rejects after `stop`. */
  whenSettled(): Promise<void>;
  snapshot(): Pick<OutboxState, SenderField>;
  /** Time of the oldest event that is not sent, in milliseconds since the epoch; null without one. */
  oldest(): number | null;
  /** Begins no further requests, and cuts those that have not ended in time. Resolves when none is in flight. */
  stop(withinMs: number): Promise<void>;
}

/** Events that may wait for a retry. Beyond it nothing new is sent. */
export const MAX_WAITING = 200;
/** Milliseconds before a call of the store is tried again that an event depends on. */
const STORE_PAUSE = 5_000;
const HOLD_PAUSE = 500;

interface Waiting {
  readonly state: WaitingEvent;
  /** Null after a take-over, until it was read. */
  readonly event: JobEvent | null;
  readonly busy: boolean;
}

export function createEventSender(options: SenderOptions): EventSender {
  const { subscriber, maxInFlight, endpoint, store, observer, clock, random } = options;
  const { times = RETRY_TIMES } = options;
  const waiting = new Map<string, Waiting>(
    options.state.waiting.map((state) => [state.id, { state, event: null, busy: false }]),
  );
  let { sent, retried, dead, lastSentAt, lastFailure } = options.state;
  const { openSince } = options.state;
  const queue: EventTask[] = [];
  const trying = new Set<EventTask>();
  const lowMark = Math.max(32, maxInFlight * 2);
  const aborting = new AbortController();
  let inFlight = 0;
  /** Waiting events that were tried while the breaker is open, since a new one was. */
  let probed = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let changed: () => void = () => undefined;
  let change = new Promise<void>((resolve) => {
    changed = resolve;
  });

  const breaker = createBreaker({
    clock,
    random,
    firstPause: times.firstPause,
    openSince: openSince === null ? null : Date.parse(openSince),
    onChange(isOpen) {
      observer.breaker(isOpen, lastFailure);
      // The address works again: what failed because it did not is due.
      if (!isOpen) for (const { state } of waiting.values()) put({ ...state, nextTryAt: clock() });
    },
  });

  function put(state: WaitingEvent, change: Partial<Pick<Waiting, 'event' | 'busy'>> = {}): void {
    const known = waiting.get(state.id);
    waiting.set(state.id, { event: known?.event ?? null, busy: known?.busy ?? false, ...change, state });
  }

  function notify(): void {
    changed();
    change = new Promise((resolve) => {
      changed = resolve;
    });
  }

  async function until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      if (stopped) throw new Error('the sender has stopped');
      await change;
    }
  }

  /** The waiting event that is due first; while the breaker is open the next one probes, due or not. */
  function nextWaiting(): Waiting | null {
    let next: Waiting | null = null;
    for (const each of waiting.values()) {
      if (each.busy || (next !== null && next.state.nextTryAt <= each.state.nextTryAt)) continue;
      next = each;
    }
    return next;
  }

  function pump(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    let pause = Number.POSITIVE_INFINITY;
    while (!stopped && inFlight < maxInFlight) {
      const now = clock();
      const wait = options.isHolding() ? breaker.mayStartAt(inFlight) - now : HOLD_PAUSE;
      const due = nextWaiting();
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
        void run(() => tryAgain(due));
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
      notify();
      pump();
    }
  }

  async function tryFirst(): Promise<void> {
    const task = queue.shift();
    if (task === undefined) return;
    const { event, hour, part } = task;
    trying.add(task);
    // The same line again, from a range of segments that is read once more.
    if (!waiting.has(event.id)) {
      const firstTriedAt = clock();
      const result = await endpoint.send(event, aborting.signal);
      // What was cut short stays unsettled, and is sent again by the next replica.
      if (isCut(result)) return;
      const { id } = event;
      const state = {
        id,
        hour,
        part,
        receivedAt: event.time,
        firstTriedAt,
        nextTryAt: 0,
        attempts: 0,
        history: [],
      };
      take(state, event, result);
    }
    trying.delete(task);
    task.settled();
  }

  async function tryAgain({ state, event: known }: Waiting): Promise<void> {
    put(state, { busy: true });
    try {
      const event = known ?? (await options.findEvent(state));
      // An erasure has deleted what the event announces.
      if (event === null || (isErasable(event) && (await isErased(store, event.data.jobId)))) {
        waiting.delete(state.id);
        return;
      }
      put(state, { event });
      if (state.ended !== undefined) return await end(state, event, state.ended);
      retried += 1;
      observer.retried();
      const result = await endpoint.send(event, aborting.signal);
      if (!isCut(result)) take(state, event, result);
    } catch {
      put({ ...state, nextTryAt: clock() + STORE_PAUSE });
    } finally {
      const left = waiting.get(state.id);
      if (left) put(left.state, { busy: left.state.ended !== undefined });
    }
  }

  /** Whether `stop` cut the request. */
  function isCut({ error }: SendResult): boolean {
    return error === 'aborted';
  }

  function take(before: WaitingEvent, event: JobEvent, result: SendResult): void {
    const verdict = verdictOf(result);
    if (verdict === 'delivered') {
      sent += 1;
      lastSentAt = result.at;
      waiting.delete(before.id);
      observer.sent(event);
      return breaker.succeeded();
    }
    const { at, status, error } = result;
    lastFailure = { at, status, error };
    breaker.failed(result.retryAfterMs);
    const now = clock();
    const history = withAttempt(before.history, lastFailure);
    const state = { ...before, attempts: before.attempts + 1, history };
    const nextTryAt = verdict === 'again' ? nextTry(state, now, result.retryAfterMs, random(), times) : null;
    if (nextTryAt !== null) return put({ ...state, nextTryAt }, { event });
    const ended = { ...state, nextTryAt: now, ended: verdict === 'again' ? 'expired' : 'rejected' } as const;
    put(ended, { event, busy: true });
    void end(ended, event, ended.ended);
  }

  /** The event stays in the state until its dead event is durable. */
  async function end(state: WaitingEvent, event: JobEvent, reason: DeadEvent['reason']): Promise<void> {
    const ending: DeadEvent = {
      v: 1,
      subscriber,
      event,
      reason,
      endedAt: new Date(clock()).toISOString(),
      firstTriedAt: new Date(state.firstTriedAt).toISOString(),
      attempts: state.attempts,
      history: state.history,
    };
    while (!stopped) {
      try {
        await keepDeadEvent(store, ending);
        waiting.delete(state.id);
        dead += 1;
        observer.dead(ending);
        break;
      } catch {
        await sleep(STORE_PAUSE, null, { signal: aborting.signal, ref: false }).catch(() => undefined);
      }
    }
    notify();
    pump();
  }

  function oldest(): number | null {
    const times = [
      ...queue.slice(0, 1).map(({ event }) => Date.parse(event.time)),
      ...[...trying].map(({ event }) => Date.parse(event.time)),
      ...[...waiting.values()].map(({ state }) => Date.parse(state.receivedAt)),
    ];
    return times.length === 0 ? null : Math.min(...times);
  }

  pump();
  return {
    async accept(tasks) {
      queue.push(...tasks);
      pump();
      await until(() => queue.length <= lowMark);
    },
    whenSettled: () => until(() => queue.length === 0 && trying.size === 0),
    oldest,
    snapshot: () => ({
      waiting: [...waiting.values()].map(({ state }) => state),
      sent,
      retried,
      dead,
      openSince: breaker.openSince === null ? null : new Date(breaker.openSince).toISOString(),
      lastSentAt,
      lastFailure,
    }),
    async stop(withinMs) {
      stopped = true;
      if (timer) clearTimeout(timer);
      const end = setTimeout(() => aborting.abort(), withinMs);
      while (inFlight > 0) await change;
      clearTimeout(end);
      aborting.abort();
      notify();
    },
  };
}
