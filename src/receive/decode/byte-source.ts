/** Bytes on demand: a non-empty chunk, or null at the end. `next` is not called again before it settles. */
export interface ByteSource {
  next(): Promise<Buffer | null>;
}
