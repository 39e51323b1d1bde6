/**
 * Cuts a caller's chunks into frames of whole samples and bounded size. The bytes of a sample that a chunk
 * begins but does not finish are held back for the next one, so that no frame ever divides a sample.
 */
export class FrameCutter {
  readonly #sampleBytes: number;
  readonly #frameBytes: number;
  #rest: Uint8Array = new Uint8Array(0);

  /** `frameBytes`: the most one frame may hold; rounded down to whole samples, at least one. */
  constructor(sampleBytes: number, frameBytes: number) {
    this.#sampleBytes = sampleBytes;
    this.#frameBytes = Math.max(sampleBytes, frameBytes - (frameBytes % sampleBytes));
  }

  /** Bytes of an unfinished sample. */
  get restBytes(): number {
    return this.#rest.length;
  }

  /** Views into `chunk` wherever its samples begin where it does; else into a copy. */
  *cut(chunk: Uint8Array): Generator<Uint8Array> {
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
