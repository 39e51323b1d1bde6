/** Two days leave time for a weekend. */
const WARNING = 2 * 86_400_000;

/**
 * Milliseconds before the end of its retention at which the warning of an unrecovered job begins. Half of a short retention, because the
 * warning would otherwise begin at once.
 */
export function retentionWarning(retention: number): number {
  return Math.min(WARNING, retention / 2);
}

/**
 * When the service will drop the results of a job, if that is soon enough to warn; null otherwise.
 *
 * @param createdAt ISO 8601
 * @param retention milliseconds that the service keeps results
 * @param now milliseconds since the epoch
 */
export function retentionDeadline(createdAt: string, retention: number, now: number): Date | null {
  const end = Date.parse(createdAt) + retention;
  return end - now < retentionWarning(retention) ? new Date(end) : null;
}
