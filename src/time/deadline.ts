/**
 * The outcome of `work`, or a rejection once `milliseconds` have passed. The work itself goes on; its late end,
 * good or bad, changes nothing any more.
 *
 * @param milliseconds must fit a timer, i.e. stay below 2^31
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(message)), milliseconds);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
