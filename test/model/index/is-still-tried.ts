import type { ReasonCode } from '../../../src/domain/reasons.js';
import { PASSING_REASONS, STILL_TRIED } from '../../../src/domain/still-tried.js';

/** Whether the service is most likely still trying to deliver a callback that was rejected. */
export function isStillTried(
  rejected: { readonly reason: ReasonCode | null; readonly received: number },
  now: number,
): boolean {
  const { reason, received } = rejected;
  return reason !== null && PASSING_REASONS.includes(reason) && now - received < STILL_TRIED;
}
