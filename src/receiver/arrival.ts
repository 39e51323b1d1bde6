import type { ArtefactContext } from '../archive/artefact-headers.js';
import type { DeliveryShape, LedgerLine, LedgerOutcome } from '../domain/delivery.js';
import type { StoredItem } from '../domain/item.js';
import { ulidMaker } from '../text/ulid-maker.js';
import type { CallbackQuery } from './access/query.js';
import type { Sender } from './access/sender.js';
import { type CallbackRequest, wireShape } from './callback-request.js';

/** What is known of a delivery while it is being received; grows until it becomes a ledger line. */
export interface Arrival {
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly startedAt: number;
  readonly method: string;
  sender: Sender;
  jobId: string | null;
  status: string | null;
  shape: DeliveryShape;
  /** Milliseconds spent receiving and decoding, storing, and writing the ledger. */
  readonly spent: { receive: number; store: number; acknowledge: number };
  /** Bytes of the body as they came over the wire so far. */
  bytes(): number;
}

const nextId = ulidMaker();

/** Begins the record of a delivery: from here on it has an id. */
export function arrive(request: CallbackRequest, sender: Sender): Arrival {
  const now = Date.now();
  return {
    deliveryId: nextId(now),
    receivedAt: new Date(now).toISOString(),
    startedAt: performance.now(),
    method: request.method,
    sender,
    jobId: null,
    status: null,
    shape: wireShape(request),
    spent: { receive: 0, store: 0, acknowledge: 0 },
    bytes: () => 0,
  };
}

/** Where the delivery's artefacts go, and what their metadata says. */
export function artefactContext(arrival: Arrival, { jobId, status }: CallbackQuery): ArtefactContext {
  const { deliveryId, receivedAt } = arrival;
  const { source, region } = arrival.sender;
  const { name, keyPrefix } = source;
  return { deliveryId, jobId, status, source: name, region, origin: 'callback', receivedAt, keyPrefix };
}

export interface LineResult {
  readonly outcome: LedgerOutcome;
  readonly reason: string | null;
  readonly items: readonly StoredItem[];
}

export function ledgerLine(arrival: Arrival, result: LineResult): LedgerLine {
  const { sender } = arrival;
  const line: LedgerLine = {
    v: 1,
    deliveryId: arrival.deliveryId,
    receivedAt: arrival.receivedAt,
    origin: 'callback',
    source: sender.source.name,
    region: sender.region,
    clientIp: sender.clientIp,
    method: arrival.method,
    jobId: arrival.jobId,
    status: arrival.status,
    credential: sender.credential,
    outcome: result.outcome,
    reason: result.reason,
    items: result.items,
    bytes: arrival.bytes(),
    durationMs: Math.round(performance.now() - arrival.startedAt),
    shape: arrival.shape,
  };
  return sender.wouldRefuse === null ? line : { ...line, wouldRefuse: sender.wouldRefuse };
}
