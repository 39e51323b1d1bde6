import { Webhook } from 'standardwebhooks';
import { isErased } from '../../../src/archive/erasure/erasure.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import type { StoredItem } from '../../../src/domain/item.js';
import { ulidMaker } from '../../../src/lib/text/ulid-maker.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import type { DeadEvent } from '../../../src/subscribers/dead-event.js';
import { jobEventOf } from '../../../src/subscribers/job-event.js';
import { createOutbox, type Outbox, type OutboxOptions } from '../../../src/subscribers/outbox.js';
import type { JobEvent, ReceiverEvent } from '../../../src/subscribers/receiver-event.js';
import type { Subscriber } from '../../../src/subscribers/subscriber.js';
import type { OutboxTimes } from '../../../src/subscribers/subscriber-run.js';
import type { RecordedRequest } from '../http/recording-server.js';
import { ledgerLine } from '../ledger/ledger-lines.js';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const OTHER_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;

/** As in production, a thousand times faster. No event expires, which on a busy machine could happen before its answer. */
export const FAST: OutboxTimes = {
  poll: 5,
  busyPoll: 1,
  save: 2,
  heartbeat: 10,
  retry: { firstPause: 5, longestPause: 50, total: 3_600_000 },
};

/** Longer than a test may take: a request that a busy machine holds up is not sent twice. */
const PATIENCE = 600_000;

export function subscriberAt(url: string, settings: Partial<Subscriber> = {}): Subscriber {
  return {
    url,
    secrets: [SECRET],
    format: 'cloudevents',
    events: ['job.stored', 'job.failed', 'job.erased'],
    sources: [],
    maxInFlight: 8,
    requestTimeout: PATIENCE,
    ...settings,
  };
}

export interface ObservedOutbox extends Outbox {
  readonly dead: DeadEvent[];
  readonly errors: unknown[];
  readonly breakers: boolean[];
  /** Subscribers that it sends to at present. */
  readonly sending: Set<string>;
}

export function outboxOf(
  store: ObjectStore,
  subscribers: Readonly<Record<string, Subscriber>>,
  options: Partial<OutboxOptions> = {},
): ObservedOutbox {
  const dead: DeadEvent[] = [];
  const errors: unknown[] = [];
  const breakers: boolean[] = [];
  const sending = new Set<string>();
  const outbox = createOutbox({
    store,
    isErased: (jobId) => isErased(store, jobId),
    subscribers,
    owner: 'replica-a',
    stopWithin: PATIENCE,
    times: FAST,
    lease: 100,
    observer: {
      events: () => ({
        sent: () => undefined,
        dead: (event) => dead.push(event),
        breaker: (isOpen) => breakers.push(isOpen),
      }),
      delayed: (_, error) => errors.push(error),
      sending: (name, isSending) => void (isSending ? sending.add(name) : sending.delete(name)),
    },
    ...options,
  });
  return Object.assign(outbox, { dead, errors, breakers, sending });
}

const ITEM: StoredItem = {
  kind: 'transcript.json-v2',
  key: 'jobs/j/transcript.json',
  size: 2,
  sha256: 'ab',
  outcome: 'created',
};

/** For this file alone: ids never go back in time, and the program's maker may have made later ones. */
const newId = ulidMaker();

/** The line of a delivery that stored something. */
export function storedLine(overrides: Partial<LedgerLine> = {}): LedgerLine {
  const receivedAt = overrides.receivedAt ?? new Date().toISOString();
  const deliveryId = newId(Date.parse(receivedAt));
  return ledgerLine({ receivedAt, deliveryId, items: [ITEM], ...overrides });
}

/** The event of a request, verified by the reference library of Standard Webhooks. */
export function eventOf<Event extends ReceiverEvent = JobEvent>(
  { headers, body }: RecordedRequest,
  secret = SECRET,
): Event {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as Event;
}

/** An event of a job that a subscriber named crm rejected. */
export function deadEventOf(jobId: string): DeadEvent {
  const line = storedLine({ jobId });
  const event = jobEventOf(line, 'memory:');
  if (event === null) throw new Error('the line has no event');
  const at = line.receivedAt;
  const history = [{ at, status: 410, error: null }];
  return {
    v: 1,
    subscriber: 'crm',
    event,
    reason: 'rejected',
    endedAt: at,
    firstTriedAt: at,
    attempts: 1,
    history,
  };
}
