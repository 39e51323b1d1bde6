/**
 * Splits chunks into frames of whole samples and bounded size. Keeps the bytes of an unfinished sample for the next
 * chunk, so that no frame divides a sample.
 */
export class FrameSplitter {
  readonly #sampleBytes: number;
  readonly #frameBytes: number;
  #rest: Uint8Array = new Uint8Array(0);

  /** `frameBytes`: maximum size of a frame; rounded down to whole samples, at least one. */
  constructor(sampleBytes: number, frameBytes: number) {
    this.#sampleBytes = sampleBytes;
    this.#frameBytes = Math.max(sampleBytes, frameBytes - (frameBytes % sampleBytes));
  }

  /** Bytes of an unfinished sample. */
  get restBytes(): number {
    return this.#rest.length;
  }

  /** Views into `chunk` when it begins with a sample, otherwise into a copy. */
  *split(chunk: Uint8Array): Generator<Uint8Array> {
    const bytes = this.#rest.length === 0 ? chunk : joined(this.#rest, chunk);
    const whole = bytes.length - (bytes.length % this.#sampleBytes);
    this.#rest = bytes.slice(whole);
    for (let start = 0; start < whole; start += this.#frameBytes) {
      yield bytes.subarray(start, Math.min(start + this.#frameBytes, whole));
    }
  }

  discardRest(): void {
    this.#rest = new Uint8Array(0);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
