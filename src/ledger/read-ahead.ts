/**
 * Works on several inputs concurrently and yields the results in the order of the inputs. At most `concurrency` results are pending or
 * unconsumed, so that memory stays bounded when the consumer is slow. An error of the inputs is thrown after the results of those before.
 */
export async function* readAhead<Input, Result>(
  inputs: AsyncIterable<Input> | Iterable<Input>,
  concurrency: number,
  work: (input: Input) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  let failure: { readonly error: unknown } | null = null;
  async function* untilFailure(): AsyncGenerator<Input> {
    try {
      yield* inputs;
    } catch (error) {
      failure = { error };
    }
  }
  for await (const input of untilFailure()) {
    const result = work(input);
    // A rejection is thrown when its result is due. Until then it must not count as unhandled.
    result.catch(() => undefined);
    begun.push(result);
    const first = begun.length >= concurrency ? begun.shift() : undefined;
    if (first) yield await first;
  }
  for (const result of begun) yield await result;
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
