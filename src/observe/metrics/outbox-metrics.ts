import { Counter, Gauge, type Registry } from 'prom-client';

/** What this process sends to one subscriber. */
export interface SendingSubscriber {
  readonly subscriber: string;
  /** Milliseconds since the epoch; null when everything is sent. */
  readonly oldestUnsent: number | null;
}

const DEATHS = ['rejected', 'expired'] as const;

export type OutboxMetrics = ReturnType<typeof createOutboxMetrics>;

/** Events to subscribers. Labels are the names of the configuration. */
export function createOutboxMetrics(registry: Registry, subscribers: readonly string[], clock: () => number) {
  const counters = defineCounters(registry);
  // Present from the start: increase() does not see the first value of a series, so that an alert would miss it.
  for (const subscriber of subscribers) {
    for (const reason of DEATHS) counters.dead.inc({ subscriber, reason }, 0);
  }
  let sending: () => readonly SendingSubscriber[] = () => [];
  new Gauge({
    name: 'transcript_receiver_events_lag_seconds',
    help: 'Age of the oldest event that is not sent, retries included; 0 when all are. Only of the replica that sends',
    labelNames: ['subscriber'],
    registers: [registry],
    collect() {
      // Only the replica that sends knows: another one must not keep an old value.
      this.reset();
      for (const { subscriber, oldestUnsent } of sending()) {
        this.set({ subscriber }, oldestUnsent === null ? 0 : Math.max(0, clock() - oldestUnsent) / 1000);
      }
    },
  });
  return {
    sent: (subscriber: string) => counters.sent.inc({ subscriber }),
    dead: (subscriber: string, reason: (typeof DEATHS)[number]) => counters.dead.inc({ subscriber, reason }),
    /** @param read gives each subscriber that this process sends to at present */
    watch(read: () => readonly SendingSubscriber[]): void {
      sending = read;
    },
  };
}

function defineCounters(registry: Registry) {
  const registers = [registry];
  return {
    sent: new Counter({
      name: 'transcript_receiver_events_sent_total',
      help: 'Events that a subscriber answered with 2xx',
      labelNames: ['subscriber'],
      registers,
    }),
    dead: new Counter({
      name: 'transcript_receiver_events_dead_total',
      help: 'Events that are not sent any more: rejected by the subscriber, or expired after 24 hours of attempts',
      labelNames: ['subscriber', 'reason'],
      registers,
    }),
  };
}
