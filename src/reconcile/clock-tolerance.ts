/** Milliseconds. The service's clock may differ from ours: a job created after a run may carry a time before it. */
export const SERVICE_CLOCK_TOLERANCE = 3_600_000;

/** Milliseconds by which lists of two runs overlap: a job may appear in the list that much after its creation. */
export const LIST_OVERLAP = 15 * 60_000;
