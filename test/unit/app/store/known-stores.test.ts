import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rememberStore } from '../../../../src/app/store/known-stores.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const AT = { location: 'file:/data', pinned: false };

beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

describe('the memory of stores', () => {
  it('tells another store from the one that was there, until its id is pinned', () => {
    const seen = (id: string, pinned = false) =>
      rememberStore(join(folder.path, 'new'), { ...AT, id, pinned });
    expect([seen('one'), seen('one')]).toEqual([null, null]);
    expect(seen('two')).toEqual({ id: 'one', seenAt: expect.stringMatching(/^20/) });
    expect(seen('two')).toMatchObject({ id: 'one' });
    expect(seen('one')).toBeNull();
    expect([seen('two', true), seen('two')]).toEqual([null, null]);
  });

  it('keeps the last stores only', async () => {
    for (let n = 0; n < 30; n += 1)
      rememberStore(folder.path, { location: `file:/${n}`, id: 'a', pinned: false });
    const kept = Object.keys(JSON.parse(await readFile(join(folder.path, 'stores.json'), 'utf8')));
    expect([kept.length, kept.at(-1)]).toEqual([20, 'file:/29']);
  });

  it('does without a folder, and without one that can be written or read', async () => {
    expect(rememberStore(null, { ...AT, id: 'a' })).toBeNull();
    await writeFile(join(folder.path, 'file'), '');
    expect(rememberStore(join(folder.path, 'file'), { ...AT, id: 'a' })).toBeNull();
    await writeFile(join(folder.path, 'stores.json'), '{"file:/data": {"id": 7}, broken');
    expect(rememberStore(folder.path, { ...AT, id: 'a' })).toBeNull();
  });
});
