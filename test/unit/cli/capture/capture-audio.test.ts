import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { openAudio, readAudio } from '../../../../src/cli/capture/capture-audio.js';

const FOREVER = new AbortController().signal;

async function collect(source: AsyncIterable<Buffer>): Promise<number[]> {
  const sizes: number[] = [];
  for await (const chunk of source) sizes.push(chunk.length);
  return sizes;
}

const chunks = (...sizes: number[]) => Readable.from(sizes.map((size) => Buffer.alloc(size)));

describe('audio for a capture', () => {
  it('is not read from a terminal', async () => {
    const terminal = Object.assign(chunks(1), { isTTY: true });
    await expect(openAudio('-', terminal)).rejects.toThrow('pipe audio');
  });

  it('streams chunk by chunk, unchanged', async () => {
    expect(await collect(readAudio(chunks(3, 5), FOREVER))).toEqual([3, 5]);
  });

  it('reports a read failure', async () => {
    const broken = new Readable({ read: () => void broken.destroy(new Error('device gone')) });
    await expect(collect(readAudio(broken, FOREVER))).rejects.toThrow('device gone');
  });

  it('ends quietly on an interrupt, also while nothing comes', async () => {
    const stop = new AbortController();
    const silent = new Readable({ read: () => stop.abort() });
    expect(await collect(readAudio(silent, stop.signal))).toEqual([]);
  });

  it('is not begun after an interrupt', async () => {
    expect(await collect(readAudio(chunks(1), AbortSignal.abort()))).toEqual([]);
  });
});
