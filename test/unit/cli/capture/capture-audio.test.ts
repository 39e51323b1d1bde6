import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { openAudio, readAudio } from '../../../../src/cli/capture/capture-audio.js';

const FOREVER = new AbortController().signal;

const sizesOf = (source: AsyncIterable<Buffer>) => Array.fromAsync(source, (chunk) => chunk.length);

const chunks = (...sizes: number[]) => Readable.from(sizes.map((size) => Buffer.alloc(size)));

describe('audio for a capture', () => {
  it('is not read from a terminal', async () => {
    const terminal = Object.assign(chunks(1), { isTTY: true });
    await expect(openAudio('-', terminal)).rejects.toThrow('pipe audio');
  });

  it('streams chunk by chunk, unchanged', async () => {
    expect(await sizesOf(readAudio(chunks(3, 5), FOREVER))).toEqual([3, 5]);
  });

  it('reports a read failure', async () => {
    const broken = new Readable({ read: () => void broken.destroy(new Error('device gone')) });
    await expect(sizesOf(readAudio(broken, FOREVER))).rejects.toThrow('device gone');
  });

  it('ends quietly on an interrupt, also while nothing comes', async () => {
    const stop = new AbortController();
    const silent = new Readable({ read: () => stop.abort() });
    expect(await sizesOf(readAudio(silent, stop.signal))).toEqual([]);
  });

  it('is not begun after an interrupt', async () => {
    expect(await sizesOf(readAudio(chunks(1), AbortSignal.abort()))).toEqual([]);
  });
});
