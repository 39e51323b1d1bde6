/** Milliseconds of a slot. */
export const SLOT = 600_000;
