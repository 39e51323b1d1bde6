/**
 * Milliseconds between two looks at connections whose headers are still to come. Node looks every 30 s unless told
 * otherwise, so that a time-out of 3 s ended after up to 33.
 */
export function headersCheckInterval(headersTimeout: number): number {
  return Math.min(1000, Math.ceil(headersTimeout / 10));
}
