import { Problem } from '../domain/problem.js';
import { NO_PROXIES, type ProxySettings } from '../lib/outbound/proxy-settings.js';
import type { ObjectStore } from '../store/object-store.js';
import type { DeadEvent } from './dead-event.js';
import { keepDeadEvent, readDeadEvent, removeDeadEvent } from './dead-events.js';
import { isJobEvent } from './job-event.js';
import type { OutboxObserver } from './outbox-observer.js';
import { createOutboxReader } from './outbox-reader.js';
import { createOutboxStore } from './outbox-store.js';
import type { JobEvent, ReceiverEvent } from './receiver-event.js';
import { createEndpoint, type Endpoint, type SendResult } from './send/endpoint.js';
import { attemptOf, isAborted, sendTimed, sentFields } from './send/event-attempts.js';
import { createSentLog, type SentLog } from './send/sent-log.js';
import type { Subscriber } from './subscriber.js';
import type { SubscriberRunOptions } from './subscriber-run.js';
import { OUTBOX_TIMES, type OutboxTimes } from './subscriber-run.js';
import { type SubscriberWatch, watchSubscriber } from './watch-subscriber.js';

export interface OutboxOptions extends Pick<SubscriberRunOptions, 'isErased' | 'isRecorded' | 'stopWithin'> {
  readonly store: ObjectStore;
  readonly subscribers: Readonly<Record<string, Subscriber>>;
  /** Name of this replica. */
  readonly owner: string;
  readonly observer: OutboxObserver;
  /** Proxies that requests go through. Default: none. */
  readonly proxies?: ProxySettings;
  /** Default: `OUTBOX_TIMES`. */
  readonly times?: OutboxTimes | undefined;
  /** Milliseconds without a heartbeat after which another replica takes over. Default 30,000. */
  readonly lease?: number;
}

export type Outbox = ReturnType<typeof createOutbox>;

/** Sends events to subscribers, and reads their status for all replicas. Makes no request before it is started or called. */
export function createOutbox(options: OutboxOptions) {
  const { store, subscribers } = options;
  const { times = OUTBOX_TIMES, proxies = NO_PROXIES } = options;
  const endpoints = new Map<string, Endpoint>();
  const sentLogs = new Map<string, SentLog>();
  const watches = new Map<string, SubscriberWatch>();

  function endpointOf(name: string): Endpoint {
    const subscriber = Object.hasOwn(subscribers, name) ? subscribers[name] : undefined;
    if (subscriber === undefined) throw new Problem('not-found', `There is no subscriber ${name}.`);
    const endpoint = endpoints.get(name) ?? createEndpoint(subscriber, proxies);
    endpoints.set(name, endpoint);
    return endpoint;
  }

  function sentLogOf(subscriber: string): SentLog {
    const onError = (error: unknown) => options.observer.delayed(subscriber, error, null);
    const { owner: replica } = options;
    const log = { store, subscriber, replica, clock: Date.now, interval: times.save, onError };
    const sent = sentLogs.get(subscriber) ?? createSentLog(log);
    sentLogs.set(subscriber, sent);
    return sent;
  }

  /** Keeps an event that nobody sends again: its subscriber is newer, and its sender announces nothing from before. */
  async function keepUnsent(subscriber: string, event: JobEvent, result: SendResult): Promise<void> {
    const state = await createOutboxStore(store, subscriber).read();
    if (state !== null && event.time >= state.since) return;
    // It was in flight while the subscriber was new, so its line is not older.
    if (state?.waiting.some(({ id }) => id === event.id)) return;
    if ((await readDeadEvent(store, subscriber, event.id)) !== null) return;
    const attempt = attemptOf(result);
    const dead: DeadEvent = {
      v: 1,
      subscriber,
      event,
      reason: 'failed',
      endedAt: attempt.at,
      firstTriedAt: attempt.at,
      attempts: 1,
      history: [attempt],
    };
    await keepDeadEvent(store, dead);
    options.observer.events(subscriber).dead(dead);
  }

  /** Sends a job's event once, and records it as a first attempt. */
  async function sendJobEvent(name: string, event: JobEvent, signal: AbortSignal): Promise<SendResult> {
    const { durationMs, ...result } = await sendTimed(endpointOf(name), event, signal);
    if (isAborted(result)) return result;
    const { at, status, error, delivered } = result;
    const ended = delivered ? 'delivered' : 'failed';
    const attempt = { at, status, error, attempt: 1, ended, durationMs, line: null } as const;
    sentLogOf(name).record({ ...sentFields(event), ...attempt });
    // What the subscriber answered counts, even where its state is damaged.
    const onError = (error: unknown) => options.observer.delayed(name, error, null);
    if (!delivered) await keepUnsent(name, event, result).catch(onError);
    return result;
  }

  async function endPause(name: string): Promise<void> {
    const run = watches.get(name)?.run();
    if (run) return run.addressWorks();
    // The event was delivered even if this write fails; the pause then ends by itself.
    await createOutboxStore(store, name)
      .endPause()
      .catch(() => undefined);
  }

  return {
    ...createOutboxReader(store, subscribers),
    /**
     * Makes one request with the event, within the concurrency of the subscriber. Once it is delivered, a dead event of its id is deleted,
     * and a pause of the subscriber ends, even in another process. Rejects with `not-found` for an unknown subscriber.
     */
    async send(subscriber: string, event: ReceiverEvent, signal: AbortSignal) {
      const isOfJob = isJobEvent(event);
      const result = isOfJob
        ? await sendJobEvent(subscriber, event, signal)
        : await endpointOf(subscriber).send(event, signal);
      const { retryAfterMs: _, ...attempt } = result;
      const { delivered } = attempt;
      if (delivered) await endPause(subscriber);
      if (delivered && isOfJob) {
        const { jobId } = event.data;
        await removeDeadEvent(store, { subscriber, eventId: event.id, jobId });
      }
      return attempt;
    },
    /** Starts sending to the subscribers that no other replica sends to. */
    start(): void {
      for (const [name, subscriber] of Object.entries(subscribers)) {
        if (!subscriber.events.some((event) => event.startsWith('job.'))) continue;
        const run = { ...options, name, subscriber, times, clock: Date.now, random: Math.random };
        watches.set(name, watchSubscriber({ ...run, endpoint: endpointOf(name), sent: sentLogOf(name) }));
      }
    },
    /** Call it when this process has written a segment of the ledger: its events are then sent soon. */
    wake(): void {
      for (const watch of watches.values()) watch.run()?.wake();
    },
    /** Waits for requests in flight and releases the claims, so that another replica continues at once. */
    async stop(): Promise<void> {
      await Promise.all([...watches.values()].map((each) => each.stop()));
      await Promise.all([...sentLogs.values()].map((sent) => sent.flush()));
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
    },
  };
}
