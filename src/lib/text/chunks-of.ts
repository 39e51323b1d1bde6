/** Yields a buffer in chunks of up to `bytes`, without copying it. */
export async function* chunksOf(buffer: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < buffer.length; start += bytes) yield buffer.subarray(start, start + bytes);
}
