/** Milliseconds. The service's clock may differ from ours: a job created after a run may carry a time before it. */
export const SERVICE_CLOCK_TOLERANCE = 3_600_000;

/**
 * From when the ledger can have lines of a job; ISO 8601.
 *
 * @param createdAt by the service's clock
 * @param now milliseconds since the epoch
 */
export function searchFrom(createdAt: string, now: number): string {
  const from = Math.min(Date.parse(createdAt), now) - SERVICE_CLOCK_TOLERANCE;
  return new Date(Number.isNaN(from) ? 0 : from).toISOString();
}

/** Milliseconds by which lists of two runs overlap: a job may appear in the list that much after its creation. */
export const LIST_OVERLAP = 15 * 60_000;
