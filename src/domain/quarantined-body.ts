/**
 * The states of a quarantined body. `released`: an operator had it decoded into the archive. `settled`: its job has what it
 * should have brought, or an operator decided that it need not be released.
 */
export const QUARANTINE_STATES = ['waiting', 'released', 'settled'] as const;
export type QuarantineState = (typeof QUARANTINE_STATES)[number];

/**
 * What settled a body: an operator dismissed it, or acknowledged its job; a refetch found the job complete; files of the job
 * were imported; or the archive holds what the body should have brought.
 */
export const SETTLED_BY = ['dismissed', 'acknowledged', 'refetched', 'imported', 'stored'] as const;
