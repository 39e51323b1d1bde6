import { setTimeout as sleep } from 'node:timers/promises';
import type { EventEnd, SentAttempt } from '../../domain/sent-attempt.js';
import { type SegmentPlace, segmentKey } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { Attempt, DeadEvent } from '../dead-event.js';
import { isErasable, keepDeadEvent } from '../dead-events.js';
import type { LogProgress } from '../follow/log-place.js';
import { eventName } from '../job-event.js';
import type { SenderObserver } from '../outbox-observer.js';
import type { WaitingEvent } from '../outbox-state.js';
import type { JobEvent } from '../receiver-event.js';
import { attemptOutcomeOf, GONE_PAUSE, nextTry, type RetryTimes, withAttempt } from './attempt-policy.js';
import type { Breaker } from './breaker.js';
import type { Endpoint, SendResult } from './endpoint.js';
import type { SentLog } from './sent-log.js';
import type { Waiting, WaitingEvents } from './waiting-events.js';

/** An event to send for the first time. */
export interface EventTask {
  readonly event: JobEvent;
  /** Place of the ledger line. */
  readonly segment: SegmentPlace;
  /** Whether that line is the event's own, not a repetition. */
  readonly isOwnLine: boolean;
  /** Position to resume the log from as long as the event was neither sent nor waits for a retry. */
  readonly from: LogProgress;
}

export interface AttemptOptions {
  readonly subscriber: string;
  readonly endpoint: Pick<Endpoint, 'send'>;
  readonly store: ObjectStore;
  readonly sent: Pick<SentLog, 'record'>;
  readonly waiting: WaitingEvents;
  readonly breaker: Pick<Breaker, 'succeeded' | 'failed'>;
  /** Whether a job is erased. Rejects with `StoreError`. */
  readonly isErased: (jobId: string) => Promise<boolean>;
  /** Reads a waiting event from the ledger; null when it is not there any more. */
  readonly findEvent: (waiting: WaitingEvent) => Promise<JobEvent | null>;
  readonly observer: SenderObserver;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly times: RetryTimes;
  /** Aborts requests. */
  readonly signal: AbortSignal;
  readonly hasStopped: () => boolean;
  /** Called once a dead event was written, or was not because the sender has stopped. */
  readonly onEnded: () => void;
}

interface TimedResult extends SendResult {
  readonly durationMs: number;
}

/** Makes single attempts to send events, and applies their results. */
export function createEventAttempts(options: AttemptOptions) {
  const { subscriber, endpoint, store, sent, waiting, breaker, observer, clock, random, times, signal } =
    options;
  let lastFailure: Attempt | null = null;
  const trying = new Set<EventTask>();
  /** Whether the job of the event was erased; false for the announcement of an erasure. */
  async function isOfErasedJob(event: JobEvent): Promise<boolean> {
    return isErasable(event) && (await options.isErased(event.data.jobId));
  }

  async function tryFirst(task: EventTask): Promise<void> {
    const { event, segment } = task;
    const place = task.isOwnLine ? segmentKey(segment) : null;
    trying.add(task);
    // If the store fails, the event is sent: a subscriber ignores events after `job.erased`.
    const isGone = await isOfErasedJob(event).catch(() => false);
    // The line may have been read again while its event waits for a retry.
    if (isGone) drop(event, 0, place);
    else if (waiting.get(event.id) === undefined) {
      const firstTriedAt = clock();
      const result = await sendTimed(endpoint, event, signal);
      // An aborted event stays untried, and the next replica sends it.
      if (isAborted(result)) return;
      const { id, time: receivedAt, data } = event;
      const line = { id, jobId: data.jobId, segment, receivedAt, source: data.source };
      applyResult({ ...line, firstTriedAt, nextTryAt: 0, attempts: 0, history: [] }, event, result, place);
    }
    trying.delete(task);
  }

  async function tryAgain({ state, event: known }: Waiting): Promise<void> {
    waiting.put(state, { busy: true });
    try {
      const event = known ?? (await options.findEvent(state));
      if (event === null || (await isOfErasedJob(event))) {
        waiting.delete(state.id);
        if (event !== null) drop(event, state.attempts, null);
        return;
      }
      waiting.put(state, { event });
      if (state.ended !== undefined) return await end(state, event, state.ended);
      const result = await sendTimed(endpoint, event, signal);
      if (!isAborted(result)) applyResult(state, event, result, null);
    } catch {
      waiting.put({ ...state, nextTryAt: clock() + times.firstPause });
    } finally {
      const remaining = waiting.get(state.id);
      if (remaining) waiting.put(remaining.state, { busy: remaining.state.ended !== undefined });
    }
  }

  function drop(event: JobEvent, attempt: number, line: string | null): void {
    const at = new Date(clock()).toISOString();
    const noRequest = { status: null, error: null, durationMs: 0 };
    sent.record({ ...sentFields(event), at, ...noRequest, attempt, ended: 'dropped', line });
  }

  /** @param place key of the segment of the event's own line, for its first attempt */
  function applyResult(
    before: WaitingEvent,
    event: JobEvent,
    result: TimedResult,
    place: string | null,
  ): void {
    const outcome = attemptOutcomeOf(result);
    const record = (ended: EventEnd | null) => {
      const { at, status, error, durationMs } = result;
      const attempt = before.attempts + 1;
      sent.record({ ...sentFields(event), at, status, error, attempt, ended, durationMs, line: place });
    };
    if (outcome === 'delivered') {
      record('delivered');
      waiting.delete(before.id);
      observer.sent(event);
      return breaker.succeeded();
    }
    lastFailure = attemptOf(result);
    breaker.failed(outcome === 'rejected' ? GONE_PAUSE : result.retryAfterMs, before.firstTriedAt);
    const now = clock();
    const history = withAttempt(before.history, lastFailure);
    const state = { ...before, attempts: before.attempts + 1, history };
    const nextTryAt = outcome === 'retry' ? nextTry(state, now, result.retryAfterMs, random(), times) : null;
    if (nextTryAt !== null) {
      record(null);
      return waiting.put({ ...state, nextTryAt }, { event });
    }
    const reason = outcome === 'retry' ? 'expired' : 'rejected';
    const ended = { ...state, nextTryAt: now, ended: reason } as const;
    record(reason);
    waiting.put(ended, { event, busy: true });
    void end(ended, event, reason);
  }

  /** Writes the dead event, with retries. The event stays in the state until then. */
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
    while (!options.hasStopped()) {
      try {
        await keepDeadEvent(store, ending);
        waiting.delete(state.id);
        observer.dead(ending);
        break;
      } catch {
        await sleep(times.firstPause, null, { signal, ref: false }).catch(() => undefined);
      }
    }
    options.onEnded();
  }

  return {
    /** First attempt at a new event. */
    tryFirst,
    tryAgain,
    /** New events in flight, and those whose request was aborted. */
    trying,
    /** The last attempt that failed in this process; null without one. */
    lastFailure: () => lastFailure,
  };
}

/** Makes one request with an event, and measures its duration. Never rejects. */
export async function sendTimed(
  endpoint: Pick<Endpoint, 'send'>,
  event: JobEvent,
  signal: AbortSignal,
): Promise<TimedResult> {
  const began = performance.now();
  const result = await endpoint.send(event, signal);
  return { ...result, durationMs: Math.round(performance.now() - began) };
}

/** A request as the history of its event keeps it. */
export function attemptOf({ at, status, error, answer }: SendResult): Attempt {
  return { at, status, error, ...(answer !== undefined && { answer }) };
}

/** Fields of the event in the record of an attempt. */
export function sentFields(event: JobEvent): Pick<SentAttempt, 'event' | 'jobId' | 'source' | 'type'> {
  const { jobId, source } = event.data;
  return { event: event.id, jobId, source, type: eventName(event) };
}

/** Whether the end of the sender, or of a replay, aborted the request: it says nothing of the event. */
export function isAborted({ error }: SendResult): boolean {
  return error === 'aborted';
}
