/** A buffer in chunks of `bytes` and a rest, without copying it; nothing of an empty one. */
export async function* chunksOf(buffer: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < buffer.length; start += bytes) yield buffer.subarray(start, start + bytes);
}
