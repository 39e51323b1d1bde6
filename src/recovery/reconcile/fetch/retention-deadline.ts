export interface RetentionRules {
  /** Milliseconds that the service keeps results. */
  readonly retention: number;
  /** Milliseconds before that end from which on to warn. */
  readonly retentionWarning: number;
}

/**
 * When the service will drop the results of a job, if that is soon enough to warn; null otherwise.
 *
 * @param createdAt ISO 8601
 * @param now milliseconds since the epoch
 */
export function retentionDeadline(createdAt: string, rules: RetentionRules, now: number): Date | null {
  const end = Date.parse(createdAt) + rules.retention;
  return end - now < rules.retentionWarning ? new Date(end) : null;
}

/** Two days leave time for a weekend; a service that keeps results for a shorter time would be warned of from the start. */
const WARNING = 2 * 86_400_000;

/** How long before the end of its retention, in milliseconds, an unrecovered job is warned of. */
export function retentionWarning(retention: number): number {
  return Math.min(WARNING, retention / 2);
}
