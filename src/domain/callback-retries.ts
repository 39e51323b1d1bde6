import type { ReasonCode } from './reasons.js';

/**
 * Milliseconds for which the service tries a callback again: it gives up some 66 s after the first failure (one public sample).
 * The rest is for attempts that are slow to fail.
 */
export const STILL_TRIED = 120_000;

/** A retry may succeed; every other rejected callback is rejected again until somebody changes something. */
export const PASSING_REASONS: readonly ReasonCode[] = [
  'overloaded',
  'draining',
  'store-unavailable',
  'store-full',
  // No line is written while the clock is wrong: one that is on record shows that it was set.
  'clock',
  'write-race',
  'internal',
  'body-incomplete',
  'body-too-slow',
];
