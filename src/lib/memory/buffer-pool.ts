export type BufferPool = ReturnType<typeof createBufferPool>;

const SMALLEST = 64 * 1024;

/**
 * Reuses the large buffers that uploads fill. Gigabytes so pass through a few buffers instead of the garbage collector,
 * which frees external memory late and lets resident memory grow.
 *
 * Sizes are powers of two from 64 KiB up to the part size. Contents are not cleared: only bytes that were written before
 * are read.
 *
 * @param options.largest size of the largest buffer
 * @param options.maxBytes bound of all buffers; buffers in use must not exceed it, and others are kept for reuse within it
 * @param options.onFilled called with the size of every copied chunk, which is garbage from then on
 */
export function createBufferPool(options: {
  readonly largest: number;
  readonly maxBytes: number;
  readonly onFilled?: (bytes: number) => void;
}) {
  const free = new Map<number, Buffer[]>();
  let allocated = 0;

  function sizeFor(bytes: number): number {
    if (bytes > options.largest)
      throw new RangeError(`no buffer of ${bytes} bytes: the largest is ${options.largest}`);
    let size = SMALLEST;
    while (size < bytes) size *= 2;
    return Math.min(size, options.largest);
  }

  function bufferOf(size: number): Buffer {
    const reused = free.get(size)?.pop();
    if (reused !== undefined) return reused;
    allocated += size;
    for (const [other, buffers] of free)
      while (allocated > options.maxBytes && buffers.pop() !== undefined) allocated -= other;
    return Buffer.allocUnsafeSlow(size);
  }

  return {
    /** Size of the largest buffer. */
    largest: options.largest,
    /** Size of the buffer that `take(bytes)` returns. */
    sizeFor,
    /** Bytes of all buffers, those in use and those kept for reuse. */
    get allocated(): number {
      return allocated;
    },
    /** A buffer of `sizeFor(bytes)`, to be given back. */
    take: (bytes: number) => bufferOf(sizeFor(bytes)),
    /** Returns a buffer to the pool. Nothing may read it afterwards. */
    giveBack(buffer: Buffer): void {
      const sameSize = free.get(buffer.length);
      if (sameSize === undefined) free.set(buffer.length, [buffer]);
      else sameSize.push(buffer);
    },
    /** Copies a chunk into a buffer of the pool at the offset `at`. */
    fill(buffer: Buffer, at: number, chunk: Buffer): void {
      chunk.copy(buffer, at);
      options.onFilled?.(chunk.length);
    },
  };
}
