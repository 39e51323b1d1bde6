import { Counter, type Registry } from 'prom-client';

const DEATHS = ['rejected', 'expired', 'failed'] as const;

export type OutboxMetrics = ReturnType<typeof createOutboxMetrics>;

/** Metrics of events to subscribers. Labels are names of the configuration. */
export function createOutboxMetrics(registry: Registry, subscribers: readonly string[]) {
  const counters = defineCounters(registry);
  // Present from the start: increase() does not see the first value of a series, so that an alert would miss it.
  for (const subscriber of subscribers) {
    for (const reason of DEATHS) counters.dead.inc({ subscriber, reason }, 0);
  }
  return {
    sent: (subscriber: string) => counters.sent.inc({ subscriber }),
    dead: (subscriber: string, reason: (typeof DEATHS)[number]) => counters.dead.inc({ subscriber, reason }),
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
      help: 'Events that are not sent any more: rejected by the subscriber, expired after 24 hours of attempts, or failed in a replay of older ones',
      labelNames: ['subscriber', 'reason'],
      registers,
    }),
  };
}
