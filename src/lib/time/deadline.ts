/** Work did not end in time. */
export class DeadlineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeadlineError';
  }
}

/**
 * The outcome of `work`, or a rejection with `DeadlineError` once `milliseconds` have passed. The work itself goes on; its late outcome is
 * ignored.
 *
 * @param milliseconds must fit a timer, i.e. stay below 2^31
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(message)), milliseconds);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for `work`, but no longer than `milliseconds`; the work itself goes on. Rejects as the work does. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, expired]).finally(() => clearTimeout(timer));
}
