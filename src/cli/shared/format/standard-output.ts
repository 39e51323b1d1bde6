import { fstatSync, writeSync } from 'node:fs';

/** Where commands print. */
export type Output = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

/**
 * Standard output. Node takes a part of a chunk that a file took, as one on a full disk, for the whole (nodejs/node#12921): an export would
 * end early with exit code 0. Writing to a file therefore goes on until all of the chunk is written, or throws.
 */
export const standardOutput: Output = isFile(1) ? { write: writeAll } : process.stdout;

/** False where standard output is closed. */
function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}

function writeAll(chunk: string | Uint8Array): true {
  const bytes = Buffer.from(chunk as Uint8Array);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  return true;
}
