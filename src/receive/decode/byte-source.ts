/** Bytes on demand. `next` resolves to a non-empty chunk, or to null at the end, and must not be called again before that. */
export interface ByteSource {
  next(): Promise<Buffer | null>;
}
