/**
 * Milliseconds between checks of connections whose headers are incomplete. Node's default is 30 s, so that a time-out of
 * 3 s could take up to 33.
 */
export function headersCheckInterval(headersTimeout: number): number {
  return Math.min(1000, Math.ceil(headersTimeout / 10));
}
