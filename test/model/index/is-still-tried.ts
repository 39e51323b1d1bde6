import { CALLBACK_RETRY_WINDOW, TRANSIENT_REASONS } from '../../../src/domain/callback-retries.js';
import type { ReasonCode } from '../../../src/domain/reasons.js';

/** Whether the service is most likely still trying to deliver a callback that was rejected. */
export function isStillTried(
  rejected: { readonly reason: ReasonCode | null; readonly received: number },
  now: number,
): boolean {
  const { reason, received } = rejected;
  return reason !== null && TRANSIENT_REASONS.includes(reason) && now - received < CALLBACK_RETRY_WINDOW;
}
