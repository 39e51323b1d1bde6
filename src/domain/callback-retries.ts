import type { ReasonCode } from './reasons.js';

/**
 * Milliseconds within which the service retries a callback: it gives up some 66 s after the first failure (one public sample).
 * The rest is a margin for attempts that are slow to fail.
 */
export const CALLBACK_RETRY_WINDOW = 120_000;

/** Reasons after which a retry may succeed. For all others the callback is rejected again until somebody changes something. */
export const TRANSIENT_REASONS: readonly ReasonCode[] = [
  'overloaded',
  'draining',
  'store-unavailable',
  'store-full',
  // No line is written while the clock is wrong, so a line with this reason shows that the clock was corrected.
  'clock',
  'write-race',
  'internal',
  'body-incomplete',
  'body-too-slow',
];
