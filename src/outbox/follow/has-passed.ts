/** Whether two instants are at least `ms` apart. The clock may have been set back between them. */
export function hasPassed(ms: number, since: number, now: number): boolean {
  return Math.abs(now - since) >= ms;
}
