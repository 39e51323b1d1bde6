import { SharedBuffer } from './shared-buffer.js';

/**
 * Reuses the large buffers that uploads fill. Gigabytes so pass through a few buffers instead of the garbage collector,
 * which frees external memory late and lets resident memory grow.
 *
 * Sizes are powers of two from 64 KiB up to the part size. Contents are not cleared: only bytes that were written before
 * are read.
 */
export interface BufferPool {
  /** Size of the largest buffer. */
  readonly largest: number;
  /** Size of the buffer that `take(bytes)` returns. */
  sizeFor(bytes: number): number;
  /** A buffer that returns to the pool when its last holder releases it; `onFree` is called then. */
  take(bytes: number, onFree: () => void): SharedBuffer;
  /** Bytes of all buffers, those in use and those kept for reuse. */
  readonly allocated: number;
  /** Copies a chunk into a buffer of the pool at the offset `at`. */
  fill(buffer: Buffer, at: number, chunk: Buffer): void;
}

const SMALLEST = 64 * 1024;

/**
 * @param options.largest size of the largest buffer
 * @param options.retain most bytes kept for reuse
 * @param options.onFilled called with the size of every copied chunk, which is garbage from then on
 */
export function createBufferPool(options: {
  readonly largest: number;
  readonly retain: number;
  readonly onFilled?: (bytes: number) => void;
}): BufferPool {
  const free = new Map<number, Buffer[]>();
  let retained = 0;
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
    if (reused === undefined) {
      allocated += size;
      return Buffer.allocUnsafeSlow(size);
    }
    retained -= size;
    return reused;
  }

  function keepForReuse(buffer: Buffer): void {
    const whole = buffer.length;
    if (retained + whole > options.retain) {
      allocated -= whole;
      return;
    }
    const sameSize = free.get(whole);
    if (sameSize === undefined) free.set(whole, [buffer]);
    else sameSize.push(buffer);
    retained += whole;
  }

  return {
    largest: options.largest,
    sizeFor,
    get allocated() {
      return allocated;
    },
    take(bytes, onFree) {
      const buffer = bufferOf(sizeFor(bytes));
      const freed = (): void => {
        keepForReuse(buffer);
        onFree();
      };
      return new SharedBuffer(buffer, { freed });
    },
    fill(buffer, at, chunk) {
      chunk.copy(buffer, at);
      options.onFilled?.(chunk.length);
    },
  };
}
