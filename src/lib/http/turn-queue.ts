/** Runs functions in the order of their arrival, one in each turn of the event loop. */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  add(run: () => void): void {
    if (this.#waiting.push(run) === 1) setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#runNext());
  }
}
