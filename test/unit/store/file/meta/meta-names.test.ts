import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMetaNames, type MetaNames } from '../../../../../src/store/file/meta/meta-names.js';

let folder: string;
let reads: number;
let names: MetaNames;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meta-names-'));
  reads = 0;
  names = createMetaNames((path) => {
    reads += 1;
    return readdir(path);
  });
  for (let n = 0; n < 20; n += 1) await writeFile(join(folder, `segment${n}#${n}.json`), '{}');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const settle = (minutes = 1) => {
  const time = new Date(Date.now() - minutes * 60_000);
  return utimes(folder, time, time);
};
const find = (stem: string) => names.findOnlyOne(join(folder, stem));

describe('names of metadata', () => {
  it('of a restored folder are read once for all its objects', async () => {
    await settle();
    for (let n = 0; n < 20; n += 1)
      expect(await find(`segment${n}`)).toBe(join(folder, `segment${n}#${n}.json`));
    expect(reads).toBe(1);
  });

  it('are read again once the folder has changed', async () => {
    await settle(2);
    expect(await find('later')).toBeNull();
    await writeFile(join(folder, 'later#1.json'), '{}');
    expect(await find('later')).toBe(join(folder, 'later#1.json'));
  });

  it('are not held while a further change might have the same time', async () => {
    expect(await find('segment1')).not.toBeNull();
    expect(await find('segment1')).not.toBeNull();
    expect(reads).toBe(2);
  });
});
