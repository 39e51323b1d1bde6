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
