/**
 * Detects silence while a message is expected. One timer per session that re-arms itself, instead of one
 * per message: sessions exchange thousands of messages and almost never time out.
 */
export class Watchdog {
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #awaiting = false;
  #heardAt = 0;

  constructor(limitMs: number, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
  }

  /** Something arrived. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** Sets whether a message is expected; silence is measured from the first call with true. */
  expect(awaiting: boolean): void {
    if (awaiting && !this.#awaiting) this.heard();
    this.#awaiting = awaiting;
    if (awaiting && this.#timer === null) this.#arm(this.#limitMs);
  }

  stop(): void {
    this.#awaiting = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.#awaiting) return;
      const left = this.#heardAt + this.#limitMs - performance.now();
      if (left > 0) this.#arm(left);
      else this.#onSilence();
    }, ms);
  }
}
