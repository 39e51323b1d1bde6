/** What recovery made of a job, by how much is left to do. */
export const RECOVERY_OUTCOMES = [
  'matched',
  'expired',
  'recovered',
  'conflict',
  'pending',
  'unrecoverable',
  'failed',
] as const;
export type RecoveryOutcome = (typeof RECOVERY_OUTCOMES)[number];
