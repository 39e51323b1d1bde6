import { isErased } from '../archive/erasure/erasure.js';
import type { Config } from '../config/config.js';
import { proxies } from '../config/load/environment.js';
import type { Logger } from '../observe/logger.js';
import type { OutboxMetrics } from '../observe/metrics/outbox-metrics.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { diagnose } from '../store/store-condition.js';
import { createOutbox, type Outbox, type OutboxOptions } from '../subscribers/outbox.js';
import type { OutboxObserver } from '../subscribers/outbox-observer.js';
import type { OutboxTimes } from '../subscribers/subscriber-run.js';
import type { StoreFailureLog } from './store/store-failure-log.js';

/** Milliseconds added to the drain delay for requests in flight. */
const STOP_MARGIN = 3_000;

/** The outbox of a service, with logs and metrics. */
export function openOutbox(
  config: Config,
  store: ObjectStore,
  facts: Pick<OutboxOptions, 'isErased' | 'isRecorded'>,
  metrics: OutboxMetrics,
  log: Logger,
  failures: StoreFailureLog,
  times?: OutboxTimes,
): Outbox {
  return createOutbox({
    store,
    ...facts,
    subscribers: config.subscribers,
    proxies: proxies(),
    times,
    owner: config.replicaName,
    stopWithin: config.receiver.drainDelay + STOP_MARGIN,
    observer: {
      events: (subscriber) => ({
        sent: () => metrics.sent(subscriber),
        dead({ event, reason, attempts, history }) {
          metrics.dead(subscriber, reason);
          const { status = null, error = null } = history.at(-1) ?? {};
          const fields = { subscriber, id: event.id, jobId: event.subject, type: event.type, reason };
          log.warn({ event: 'event-dead', ...fields, attempts, status, error }, 'an event was not delivered');
        },
        breaker(isOpen, last) {
          const { status = null, error = null } = last ?? {};
          if (isOpen)
            log.warn({ event: 'subscriber-failing', subscriber, status, error }, 'the subscriber fails');
          else log.info({ event: 'subscriber-answers', subscriber }, 'the subscriber accepts events again');
        },
      }),
      // Through the failure log, because a sender retries every two seconds.
      delayed(subscriber, err, hour) {
        if (err instanceof StoreError) failures.failed('events-delayed', diagnose(err), { subscriber, hour });
        else log.warn({ event: 'events-delayed', subscriber, hour, err }, 'events are delayed');
      },
      sending: (subscriber, isSending) =>
        log.info({ event: 'events-sender', subscriber, sending: isSending }, 'sender of events'),
    },
  });
}

const UNOBSERVED: OutboxObserver = {
  events: () => ({ sent() {}, dead() {}, breaker() {} }),
  delayed() {},
  sending() {},
};

/** The outbox of a command, which reads the status of subscribers and sends single events. */
export function openCommandOutbox(config: Config, store: ObjectStore): Outbox {
  return createOutbox({
    store,
    isErased: (jobId) => isErased(store, jobId),
    subscribers: config.subscribers,
    proxies: proxies(),
    owner: config.replicaName,
    stopWithin: 0,
    observer: UNOBSERVED,
  });
}
