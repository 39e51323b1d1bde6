/** Exit codes of the command line; `--help` of each command says what they mean there. */
export const EXIT = {
  ok: 0,
  /** An operation failed. */
  failed: 1,
  /** Wrong usage, or faults in the configuration. */
  usage: 2,
  /**
   * `reconcile` and `refetch`: some jobs can never be recovered. `verify`: some artefacts are missing or damaged.
   * `transcript`, `copy-store`: incomplete. */
  unrecoverable: 3,
  /**
   * `reconcile` and `refetch`: some jobs failed and may succeed next time. `verify`, `transcript`, `copy-store`: not everything could be
   * read.
   * `capture`: archived, but incomplete. `erase`: something could not be removed.
   */
  incomplete: 4,
} as const;

/** Wrong usage. The message goes to standard error; exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
