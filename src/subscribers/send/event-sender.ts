import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxState } from '../outbox-state.js';
import { RETRY_TIMES, type RetryTimes } from './attempt-policy.js';
import { createBreaker } from './breaker.js';
import { type AttemptOptions, createEventAttempts, type EventTask } from './event-attempts.js';
import { createWaitingEvents, type WaitingEventsOptions } from './waiting-events.js';

type SenderField = 'waiting' | 'batches' | 'openSince' | 'pausedUntil';

interface SenderOptions
  extends Pick<
    AttemptOptions,
    'subscriber' | 'endpoint' | 'store' | 'sent' | 'isErased' | 'findEvent' | 'observer' | 'clock' | 'random'
  > {
  readonly maxInFlight: number;
  readonly state: WaitingEventsOptions['state'] & Pick<OutboxState, 'openSince'>;
  readonly documents: WaitingEventsOptions['documents'];
  /** Called when waiting events cannot be moved to or from a batch. */
  readonly onError: (error: unknown) => void;
  /** Whether this replica certainly still holds the claim. */
  readonly isHolding: () => boolean;
  readonly times?: RetryTimes | undefined;
}

/** Waiting events in memory. Beyond it no new event is sent, until others are moved to a batch. */
const MAX_WAITING = 200;
/** New events for each retry while the breaker is open: a new event is the best probe of the address. */
const FIRSTS_WHILE_OPEN = 3;
/** Milliseconds until a replica that may have lost its claim checks again whether it may send. */
const HOLD_PAUSE = 500;

/** Sends the events of one subscriber: new ones in the order in which they are read, failed ones when they are due. */
export class EventSender {
  readonly #options: SenderOptions;
  readonly #waiting: ReturnType<typeof createWaitingEvents>;
  readonly #breaker: ReturnType<typeof createBreaker>;
  readonly #attempts: ReturnType<typeof createEventAttempts>;
  readonly #queue: EventTask[] = [];
  readonly #aborting = new AbortController();
  readonly #changes = new EventEmitter();
  #inFlight = 0;
  /** New events tried since the last retry. */
  #firsts = 0;
  #stopped = false;
  #isMoving = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SenderOptions) {
    const { times = RETRY_TIMES } = options;
    this.#options = options;
    this.#waiting = createWaitingEvents({ ...options, times });
    this.#breaker = this.#createBreaker(times.firstPause);
    this.#attempts = createEventAttempts({
      ...options,
      times,
      waiting: this.#waiting,
      breaker: this.#breaker,
      signal: this.#aborting.signal,
      hasStopped: () => this.#stopped,
      onEnded: () => this.#next(),
    });
    this.#pump();
  }

  /** Queues events of a part of the ledger. Resolves once there is room for more; rejects after `stop`. */
  async accept(tasks: readonly EventTask[]): Promise<void> {
    const lowMark = Math.max(32, this.#options.maxInFlight * 2);
    this.#queue.push(...tasks);
    this.#pump();
    while (this.#queue.length > lowMark) {
      if (this.#stopped) throw new Error('the sender has stopped');
      await once(this.#changes, 'change');
    }
  }

  /** The oldest accepted event that is not tried yet or in flight; null without one. */
  oldestUntried(): EventTask | null {
    const [first = this.#queue[0] ?? null] = this.#attempts.trying;
    return first;
  }

  snapshot(): Pick<OutboxState, SenderField> {
    return {
      waiting: this.#waiting.states(),
      batches: this.#waiting.batches(),
      openSince: instantOf(this.#breaker.openSince),
      pausedUntil: instantOf(this.#breaker.pausedUntil),
    };
  }

  /** Batches whose events are in the snapshot: their documents may be deleted once it is saved. */
  get takenBatches(): Set<string> {
    return this.#waiting.taken;
  }

  /** Closes the breaker, because an event was delivered by other means. */
  addressWorks(): void {
    this.#breaker.succeeded();
    this.#next();
  }

  /** Starts no further requests, and aborts those that have not ended in time. Resolves when none is in flight. */
  async stop(withinMs: number): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    const end = setTimeout(() => this.#aborting.abort(), withinMs);
    while (this.#inFlight > 0) await once(this.#changes, 'change');
    clearTimeout(end);
    this.#aborting.abort();
    this.#changes.emit('change');
  }

  #createBreaker(firstPause: number) {
    const { clock, random, observer, state } = this.#options;
    const { openSince } = state;
    return createBreaker({
      clock,
      random,
      firstPause,
      openSince: openSince === null ? null : Date.parse(openSince),
      onChange: (isOpen) => {
        observer.breaker(isOpen, this.#attempts.lastFailure());
        // The address works again, so events that failed because of it are due.
        if (!isOpen) this.#waiting.makeDue(clock());
      },
    });
  }

  #next(): void {
    this.#changes.emit('change');
    this.#pump();
  }

  #pump(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    let pause: number | null = null;
    while (pause === null && !this.#stopped && this.#inFlight < this.#options.maxInFlight)
      pause = this.#startNext();
    if (!this.#stopped && pause !== null && Number.isFinite(pause))
      this.#timer = setTimeout(() => this.#pump(), Math.min(Math.max(1, pause), 60_000)).unref();
  }

  /** Starts the request of one event and returns null; if none may start, returns the milliseconds until one may. */
  #startNext(): number | null {
    const now = this.#options.clock();
    const wait = this.#options.isHolding() ? this.#breaker.mayStartAt(this.#inFlight) - now : HOLD_PAUSE;
    if (wait > 0) return wait;
    const move = this.#isMoving ? null : this.#waiting.move(now);
    if (move !== null) void this.#finishMove(move);
    const due = this.#waiting.next();
    const isOpen = this.#breaker.openSince !== null;
    const mayTryFirst =
      this.#queue.length > 0 && this.#waiting.size + this.#attempts.trying.size < MAX_WAITING;
    // New events alternate with retries, so that events that always fail hold up no others.
    const isTurnOfFirst = mayTryFirst && this.#firsts < (isOpen ? FIRSTS_WHILE_OPEN : 1);
    if (due !== null && !isTurnOfFirst && (due.state.nextTryAt <= now || isOpen)) {
      this.#firsts = 0;
      void this.#run(() => this.#attempts.tryAgain(due));
      return null;
    }
    if (mayTryFirst) {
      this.#firsts += 1;
      void this.#run(() => this.#tryFirst());
      return null;
    }
    const batch = this.#isMoving ? null : this.#waiting.nextBatch();
    const dueAt = [due?.state.nextTryAt, batch?.dueAt].filter((time) => time !== undefined);
    return Math.min(...dueAt) - now;
  }

  async #finishMove(move: Promise<void>): Promise<void> {
    const { onError, times = RETRY_TIMES } = this.#options;
    this.#isMoving = true;
    await move.catch(async (error: unknown) => {
      onError(error);
      const { signal } = this.#aborting;
      await sleep(times.firstPause, null, { signal, ref: false }).catch(() => undefined);
    });
    this.#isMoving = false;
    this.#next();
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.#inFlight += 1;
    try {
      await work();
    } finally {
      this.#inFlight -= 1;
      this.#next();
    }
  }

  async #tryFirst(): Promise<void> {
    const task = this.#queue.shift();
    if (task !== undefined) await this.#attempts.tryFirst(task);
  }
}

function instantOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
