import type { DeliveryOutcome } from '../domain/delivery.js';
import type { StoredItem } from '../domain/item.js';

/** What a sender is told of a delivery that was taken (docs/answers.md). */
export interface Acknowledgement {
  readonly deliveryId: string;
  readonly jobId: string;
  readonly status: string;
  readonly outcome: DeliveryOutcome;
  readonly items: readonly StoredItem[];
  /** Why the body went to quarantine. */
  readonly reason?: string;
}

/** One word for all items of a decoded delivery: the most noteworthy of their outcomes. */
export function outcomeOf(items: readonly StoredItem[]): Exclude<DeliveryOutcome, 'quarantined'> {
  if (items.length === 0) return 'noted';
  if (items.some((item) => item.outcome === 'conflict')) return 'conflict';
  return items.every((item) => item.outcome === 'identical') ? 'duplicate' : 'stored';
}

/** 200 for what is archived or needs no archiving, 202 for what waits in quarantine for an operator. */
export function statusOf(outcome: DeliveryOutcome): 200 | 202 {
  return outcome === 'quarantined' ? 202 : 200;
}
