import { once } from 'node:events';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { terminalText } from '../../lib/text/terminal-text.js';
import { UsageError } from '../shared/exit-codes.js';
import type { Output } from '../shared/format/standard-output.js';

/** Destination of the bytes of a transcript. */
export interface TranscriptOutput {
  write(chunk: Buffer): Promise<void>;
  /** Ends the output after the last byte. Throws when the bytes are not durable. */
  end(): Promise<void>;
  /** Removes what was written, where that is possible. */
  discard(): Promise<void>;
}

/**
 * A standard stream. A pipe and a file get the exact bytes; for a terminal, control characters are removed, and the last line is ended.
 */
export function outputTo(stream: Output): TranscriptOutput {
  const decoder = new StringDecoder('utf8');
  let last = '\n';
  const write = async (bytes: Buffer | string) => {
    if (bytes.length > 0 && !stream.write(bytes)) await once(stream as NodeJS.WriteStream, 'drain');
  };
  const show = (text: string) => {
    last = text.at(-1) ?? last;
    return write(terminalText(text));
  };
  return {
    write: (chunk) => (stream.isTTY ? show(decoder.write(chunk)) : write(chunk)),
    async end() {
      if (!stream.isTTY) return;
      await show(decoder.end());
      if (last !== '\n') await write('\n');
    },
    discard: async () => {},
  };
}

/** A new file that only its user may read. Throws `UsageError` for one that exists, or that cannot be made. */
export async function outputToFile(path: string): Promise<TranscriptOutput> {
  const file = await create(path);
  return {
    async write(chunk) {
      await file.writeFile(chunk);
    },
    async end() {
      await file.sync();
      await file.close();
    },
    async discard() {
      await file.close();
      await unlink(path);
    },
  };
}

function create(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new UsageError(`${path} exists already: name another file, or remove that one`);
    throw new UsageError(`--output cannot be written: ${error.message}`);
  });
}
