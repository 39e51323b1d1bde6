import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../shared/exit-codes.js';

/** Bytes read from a file at once; half a second of 16 kHz PCM, so that pacing stays smooth. */
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

export interface AudioPace {
  readonly bytesPerSecond: number;
  /** 1 is real time. */
  readonly speed: number;
}

/**
 * The chunks of `stream`, at most at the given pace. Ends quietly when `signal` aborts, also while it waits
 * for audio; rejects when reading fails.
 */
export async function* readAudio(
  stream: Readable,
  pace: AudioPace | null,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  if (signal.aborted) return;
  const stop = (): void => void stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const startedAt = performance.now();
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      if (signal.aborted) return;
      yield chunk;
      bytes += (chunk as Buffer).length;
      if (pace === null) continue;
      const due = startedAt + (bytes / pace.bytesPerSecond / pace.speed) * 1000;
      const early = due - performance.now();
      if (early > 0) await sleep(early, null, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
