import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { LEDGER_OUTCOMES, type LedgerLine } from '../../domain/delivery.js';
import { KNOWN_CALLBACK_STATUSES, TEST_STATUS } from '../../domain/job.js';
import { CALLBACK_REFUSALS, type ProblemCode } from '../../domain/problem.js';

export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>;

/** `unknown`: only `any` admits the address, and the request had no valid secret. */
type RefusedOrigin = 'sender' | 'unknown';

export interface DeliveryPhases {
  /** From the request's head to the last byte of the body. */
  readonly receive: number;
  /** From the last byte until every artefact is durable. */
  readonly store: number;
  /** From then until the ledger line is durable and the answer can be sent. */
  readonly acknowledge: number;
}

const REPORTED_REFUSALS: readonly ProblemCode[] = ['address-refused', 'address-unreadable'];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** Deliveries and refusals. */
export function createDeliveryMetrics(
  registry: Registry,
  sources: readonly string[],
  regions: readonly string[],
) {
  const metrics = defineMetrics(registry);
  const sourceOf = boundedLabel(sources);
  const regionOf = boundedLabel(regions);
  const statusOf = boundedLabel([...KNOWN_CALLBACK_STATUSES, TEST_STATUS]);
  const outcomeOf = boundedLabel(LEDGER_OUTCOMES);
  const reportedOf = boundedLabel(REPORTED_REFUSALS);
  // Present from the start: increase() does not see the first value of a series, so that an alert would miss it.
  for (const source of ['none', ...sources])
    for (const reason of CALLBACK_REFUSALS) metrics.refusals.inc(refusalOf(reason, source), 0);
  let inFlight = () => 0;
  new Gauge({
    name: 'transcript_receiver_deliveries_in_flight',
    help: 'Deliveries in flight',
    registers: [registry],
    collect() {
      this.set(inFlight());
    },
  });

  return {
    /** Counts an authenticated delivery by its ledger line: deliveries, items, bytes. */
    delivered(line: LedgerLine): void {
      const source = sourceOf(line.source);
      const region = regionOf(line.region);
      const status = statusOf(line.status);
      metrics.deliveries.inc({ source, region, status, outcome: outcomeOf(line.outcome) });
      metrics.bytes.inc({ source }, line.bytes);
      for (const { kind, outcome } of line.items) metrics.items.inc({ kind, outcome });
    },
    /** Records the duration of each phase of a delivery, in milliseconds. */
    timed(phases: DeliveryPhases): void {
      metrics.duration.observe({ phase: 'receive' }, phases.receive / 1000);
      metrics.duration.observe({ phase: 'store' }, phases.store / 1000);
      metrics.duration.observe({ phase: 'acknowledge' }, phases.acknowledge / 1000);
    },
    /** Counts a refusal; its reason is `body-incomplete` when the sender has disconnected. */
    refused: (reason: ProblemCode | 'body-incomplete', source: string | null, origin?: RefusedOrigin) =>
      metrics.refusals.inc(refusalOf(reason, sourceOf(source), origin)),
    /** Counts a request that `allowMode: report` admitted and `enforce` would have refused. */
    wouldRefuse: (reason: string, source: string | null) =>
      metrics.wouldRefuse.inc({ reason: reportedOf(reason), source: sourceOf(source) }),
    /** `read` returns the number of deliveries in flight, at each scrape. */
    watchInFlight(read: () => number): void {
      inFlight = read;
    },
  };
}

function refusalOf(reason: string, source: string, origin: RefusedOrigin = 'sender') {
  return { reason, source, origin };
}

function defineMetrics(registry: Registry) {
  const registers = [registry];
  return {
    deliveries: new Counter({
      name: 'transcript_receiver_deliveries_total',
      help: 'Authenticated deliveries by source, region, callback status and outcome',
      labelNames: ['source', 'region', 'status', 'outcome'],
      registers,
    }),
    bytes: new Counter({
      name: 'transcript_receiver_received_bytes_total',
      help: 'Body bytes of authenticated deliveries as received on the wire',
      labelNames: ['source'],
      registers,
    }),
    items: new Counter({
      name: 'transcript_receiver_items_total',
      help: 'Delivered items by kind and outcome: created, identical, conflict',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'transcript_receiver_delivery_duration_seconds',
      help: 'Duration of a delivery by phase: receive, to the last body byte; store, until artefacts are durable; acknowledge, until the ledger line is',
      labelNames: ['phase'],
      buckets: SECONDS,
      registers,
    }),
    refusals: new Counter({
      name: 'transcript_receiver_refusals_total',
      help: 'Refused requests by reason (transcript-receiver reasons), source and origin: sender, or unknown where only any admits the address and no secret came',
      labelNames: ['reason', 'source', 'origin'],
      registers,
    }),
    wouldRefuse: new Counter({
      name: 'transcript_receiver_would_refuse_total',
      help: 'Requests that allowMode report admitted and enforcement would have refused',
      labelNames: ['reason', 'source'],
      registers,
    }),
  };
}

/**
 * Maps a value from outside to a fixed set of label values, so that no sender can create series: an unknown value becomes
 * `other`, a missing one `none`.
 */
type BoundedLabel = (value: string | null | undefined) => string;

export function boundedLabel(known: Iterable<string>): BoundedLabel {
  const values = new Set(known);
  return (value) => {
    if (value === null || value === undefined) return 'none';
    return values.has(value) ? value : 'other';
  };
}
