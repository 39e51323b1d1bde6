import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sweepTempFiles } from '../../../../src/store/file/temp-file.js';

const CUTOFF = new Date('2026-03-04T05:00:00Z');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'temp-file-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(name: string, written: Date) {
  await writeFile(path.join(folder, name), 'x');
  await utimes(path.join(folder, name), written, written);
}

describe('a sweep of temporary files', () => {
  it('removes those last written before a time, and no others', async () => {
    await put('older', new Date(CUTOFF.getTime() - 1));
    await put('at the time', CUTOFF);
    await put('younger', new Date(CUTOFF.getTime() + 1000));
    expect(await sweepTempFiles(folder, CUTOFF)).toBe(1);
    expect((await readdir(folder)).sort()).toEqual(['at the time', 'younger']);
  });

  it('leaves folders, which are not ours', async () => {
    const inside = path.join(folder, 'foreign');
    await mkdir(inside);
    await utimes(inside, new Date(0), new Date(0));
    await put('older', new Date(0));
    expect(await sweepTempFiles(folder, CUTOFF)).toBe(1);
    expect(await readdir(folder)).toEqual(['foreign']);
  });

  it('finds nothing where no folder is', async () => {
    expect(await sweepTempFiles(path.join(folder, 'missing'), CUTOFF)).toBe(0);
  });
});
