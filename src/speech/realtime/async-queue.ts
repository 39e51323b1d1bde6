/**
 * An async iterator over pushed values, which are queued until they are read. With `supersedes`, a later value replaces a
 * queued one, so that a slow reader does not accumulate partials.
 */
export class AsyncQueue<T> implements AsyncIterableIterator<T, undefined> {
  readonly #supersedes: (later: T, waiting: T) => boolean;
  readonly #onReturn: () => void;
  readonly #values: T[] = [];
  readonly #readers: ((result: Promise<IteratorResult<T, undefined>>) => void)[] = [];
  #end: Promise<IteratorResult<T, undefined>> | null = null;

  constructor(options: { supersedes?: (later: T, waiting: T) => boolean; onReturn?: () => void } = {}) {
    this.#supersedes = options.supersedes ?? (() => false);
    this.#onReturn = options.onReturn ?? (() => {});
  }

  push(value: T): void {
    if (this.#end !== null) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader(Promise.resolve({ done: false, value }));
      return;
    }
    const waiting = this.#values.at(-1);
    if (waiting !== undefined && this.#supersedes(value, waiting)) this.#values.pop();
    this.#values.push(value);
  }

  /** Ends the iteration after the queued values; with `error`, by throwing it. */
  close(error?: Error): void {
    if (this.#end !== null) return;
    this.#end =
      error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
    this.#end.catch(() => {});
    for (const reader of this.#readers.splice(0)) reader(this.#end);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#values.length > 0) return Promise.resolve({ done: false, value: this.#values.shift() as T });
    return this.#end ?? new Promise((resolve) => this.#readers.push(resolve));
  }

  /** The reader leaves its loop. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.#values.length = 0;
    this.close();
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
