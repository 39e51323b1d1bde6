import type { DeliveryShape, LedgerLine, LedgerOutcome } from '../domain/delivery.js';
import type { StoredItem } from '../domain/item.js';
import { ulidMaker } from '../domain/ulid-maker.js';
import type { Sender } from './sender.js';

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

/** ULIDs of one process sort by arrival. */
export function newDeliveryId(now: number = Date.now()): string {
  return nextId(now);
}

export interface LineResult {
  readonly outcome: LedgerOutcome;
  readonly reason: string | null;
  readonly items: readonly StoredItem[];
}

export function ledgerLine(arrival: Arrival, result: LineResult): LedgerLine {
  const { sender } = arrival;
  return {
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
    ...(sender.wouldRefuse === null ? {} : { wouldRefuse: sender.wouldRefuse }),
  };
}
