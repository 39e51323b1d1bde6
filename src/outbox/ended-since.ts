import type { LedgerLine } from '../domain/delivery.js';
import { writtenAt } from '../ledger/segment-name.js';

/**
 * Whether a delivery ended at or after an instant in milliseconds since the epoch. Its id counts as well: the ids of one
 * process go on when its clock is set back.
 */
export function endedSince({ deliveryId, receivedAt, durationMs }: LedgerLine, since: number): boolean {
  const duration = Number.isFinite(durationMs) ? durationMs : 0;
  return Math.max(Date.parse(receivedAt) + duration, writtenAt(deliveryId) ?? 0) >= since;
}
