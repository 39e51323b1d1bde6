import { fstatSync, writeSync } from 'node:fs';

/** Where commands print. */
export type Output = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

/**
 * Standard output. Node treats a partial write to a file, for example on a full disk, as complete (nodejs/node#12921), so that an export
 * would be truncated with exit code 0. Writes to a file are therefore repeated until the whole chunk is written, or throw.
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
