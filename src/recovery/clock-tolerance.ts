/** Milliseconds. The service's clock may differ from ours: a job created after a run may carry a time before it. */
export const CLOCK_TOLERANCE = 3_600_000;
