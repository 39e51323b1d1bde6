import type { LedgerLine } from '../../domain/delivery.js';
import { ulidMaker } from '../../text/ulid-maker.js';

/** Who ordered something, and why. */
export interface Order {
  /** Name of the admin token, or of the command line's user. */
  readonly actor: string;
  readonly reason: string | null;
}

const nextId = ulidMaker();

/** Id of an operator's act, of the kind deliveries have. */
export function newActId(now: number = Date.now()): string {
  return nextId(now);
}

/** What happened, as far as it differs from nothing. */
export type Act = Pick<LedgerLine, 'outcome'> & Partial<Omit<LedgerLine, 'v' | 'actor' | 'outcome'>>;

/** The ledger line of an operator's act: every change says who and why. */
export function operatorLine(order: Order, act: Act): LedgerLine {
  const now = Date.now();
  return {
    v: 1,
    deliveryId: act.deliveryId ?? newActId(now),
    receivedAt: act.receivedAt ?? new Date(now).toISOString(),
    origin: act.origin ?? 'replay',
    source: act.source ?? null,
    region: act.region ?? null,
    clientIp: act.clientIp ?? null,
    method: act.method ?? null,
    jobId: act.jobId ?? null,
    status: act.status ?? null,
    credential: null,
    outcome: act.outcome,
    reason: order.reason,
    items: act.items ?? [],
    bytes: act.bytes ?? 0,
    durationMs: act.durationMs ?? 0,
    shape: act.shape ?? null,
    actor: order.actor,
  };
}
