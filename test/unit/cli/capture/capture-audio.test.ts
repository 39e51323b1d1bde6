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
    expect(await collect(readAudio(chunks(3, 5), null, FOREVER))).toEqual([3, 5]);
  });

  it('reports a read failure', async () => {
    const broken = new Readable({ read: () => void broken.destroy(new Error('device gone')) });
    await expect(collect(readAudio(broken, null, FOREVER))).rejects.toThrow('device gone');
  });

  it('ends quietly on an interrupt, also while nothing comes', async () => {
    const stop = new AbortController();
    const silent = new Readable({ read: () => stop.abort() });
    expect(await collect(readAudio(silent, null, stop.signal))).toEqual([]);
  });

  it('is not begun after an interrupt', async () => {
    expect(await collect(readAudio(chunks(1), null, AbortSignal.abort()))).toEqual([]);
  });
});

describe('paced audio', () => {
  it('waits for its time, and stops on an interrupt while it waits', async () => {
    const stop = new AbortController();
    const reading = readAudio(chunks(1_000_000, 1), { bytesPerSecond: 1, speed: 1 }, stop.signal);
    expect((await reading.next()).value).toHaveLength(1_000_000);
    let settled = false;
    const next = reading.next().finally(() => {
      settled = true;
    });
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    expect(settled).toBe(false);
    stop.abort();
    expect((await next).done).toBe(true);
  });
});
