import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../shared/exit-codes.js';

/** Bytes read from a file at once: half a second of 16 kHz PCM. */
const READ_BYTES = 16 * 1024;

export interface AudioInput {
  /** File name for the archive; null for standard input. */
  readonly name: string | null;
  readonly stream: Readable;
}

/** Opens a file, or standard input for `-`. Throws `UsageError` when it is not readable or empty. */
export async function openAudio(input: string, stdin: Readable & { isTTY?: boolean }): Promise<AudioInput> {
  if (input === '-') {
    if (stdin.isTTY === true) throw new UsageError('standard input is the terminal; pipe audio into it');
    return { name: null, stream: stdin };
  }
  const file = await open(input).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${input}: ${error.code ?? error.message}`);
  });
  const status = await file.stat();
  if (status.isFile() && status.size > 0) {
    return {
      name: input.split(/[/\\]/).at(-1) ?? input,
      stream: file.createReadStream({ highWaterMark: READ_BYTES }),
    };
  }
  await file.close();
  throw new UsageError(`${input} ${status.isFile() ? 'is empty' : 'is not a file'}`);
}

/**
 * The chunks of `stream`. Ends without an error when `signal` aborts, also while it waits for audio; rejects when reading fails.
 */
export async function* readAudio(stream: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (signal.aborted) return;
  const stop = (): void => void stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream) {
      if (signal.aborted) return;
      yield chunk;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
