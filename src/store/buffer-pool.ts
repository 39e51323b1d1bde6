/**
 * Reuses the large buffers that uploads fill, so that gigabytes pass through a handful of them instead of
 * through the garbage collector, whose late frees of external memory are what makes resident memory climb.
 *
 * Sizes are powers of two from 64 KiB up to the part size. Contents are not cleared: every byte handed on is
 * one that was written first.
 */
export interface BufferPool {
  /** Size of the buffer that `take(bytes)` returns. */
  sizeFor(bytes: number): number;
  take(bytes: number): Buffer;
  /** The caller must not touch the buffer afterwards. */
  give(buffer: Buffer): void;
}

const SMALLEST = 64 * 1024;

/**
 * @param options.largest size of the largest buffer
 * @param options.retain bytes kept for reuse at most
 * @param options.onReturned told of the size of every buffer that comes back
 */
export function createBufferPool(options: {
  readonly largest: number;
  readonly retain: number;
  readonly onReturned?: (bytes: number) => void;
}): BufferPool {
  const free = new Map<number, Buffer[]>();
  let retained = 0;

  function sizeFor(bytes: number): number {
    if (bytes > options.largest)
      throw new RangeError(`no buffer of ${bytes} bytes: the largest is ${options.largest}`);
    let size = SMALLEST;
    while (size < bytes) size *= 2;
    return Math.min(size, options.largest);
  }

  return {
    sizeFor,
    take(bytes) {
      const size = sizeFor(bytes);
      const reused = free.get(size)?.pop();
      if (reused === undefined) return Buffer.allocUnsafeSlow(size);
      retained -= size;
      return reused;
    },
    give(buffer) {
      const whole = buffer.length;
      options.onReturned?.(whole);
      if (retained + whole > options.retain) return;
      const sameSize = free.get(whole);
      if (sameSize === undefined) free.set(whole, [buffer]);
      else sameSize.push(buffer);
      retained += whole;
    },
  };
}
