import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import type { ListedObject, ObjectStore } from '../../../../src/store/object-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const HEADERS = { contentType: 'text/plain', metadata: { who: 'test' } };
const HOUR = 3_600_000;
const LIMIT = Date.parse('2026-01-01T00:00:00.000Z');

let folder: string;
let store: ObjectStore;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path: folder, remove } = await temporaryFolder());
  store = createFileStore({ directory: folder, partSize: 1024, fsync: false });
});
afterEach(() => remove());

async function put(key: string, time: number, body = 'content'): Promise<void> {
  await store.create(key, Buffer.from(body), HEADERS);
  await utimes(join(folder, key), time / 1000, time / 1000);
}

const unreadable: string[] = [];

async function older(before: (key: string) => number | null, prefix = ''): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  const search = { before, onUnreadable: (key: string) => void unreadable.push(key) };
  for await (const each of store.expiry?.older(prefix, search) ?? []) found.push(each);
  return found;
}

describe('the end of files by age', () => {
  it('finds the objects that are older than the time of their key, and none of the store itself', async () => {
    await put('a/old', LIMIT - 1);
    await put('a/limit', LIMIT);
    await put('a/b/old', LIMIT - HOUR);
    await put('a/kept', LIMIT - HOUR);
    await put('.erasures/j1.json', 0);
    await mkdir(join(folder, 'a/empty'));
    await symlink(join(folder, 'a/old'), join(folder, 'a/link'));
    const found = await older((key) => (key === 'a/kept' ? null : LIMIT));
    expect(found.map(({ key, size, modifiedAt }) => [key, size, modifiedAt.getTime()]).sort()).toEqual([
      ['a/b/old', 7, LIMIT - HOUR],
      ['a/old', 7, LIMIT - 1],
    ]);
    expect(await older(() => LIMIT, 'missing/')).toEqual([]);
  });

  it('removes what was found with its metadata and its folders, once', async () => {
    await put('a/b/old', LIMIT - HOUR);
    const [found] = await older(() => LIMIT);
    if (found === undefined || store.expiry === undefined) throw new Error('nothing found');
    const results = await Promise.all([store.expiry.remove(found), store.expiry.remove(found)]);
    expect(results.sort()).toEqual(['missing', 'removed']);
    expect(await store.head('a/b/old')).toBeNull();
    expect((await readdir(folder)).sort()).toEqual(['.meta', '.tmp', '.transcript-receiver']);
    expect(await readdir(join(folder, '.meta'))).toEqual([]);
  });

  it('never removes what was written to the key since', async () => {
    await put('a/b', LIMIT - HOUR);
    const [found] = await older(() => LIMIT);
    if (found === undefined || store.expiry === undefined) throw new Error('nothing found');
    await store.delete('a/b');
    await put('a/b', LIMIT - HOUR, 'another content');
    expect(await store.expiry.remove(found)).toBe('replaced');
    await store.delete('a/b');
    await put('a/b', LIMIT);
    expect(await store.expiry.remove(found)).toBe('replaced');
    expect(await store.head('a/b')).toMatchObject({ size: 7, metadata: HEADERS.metadata });
  });

  it('goes on beside what cannot be read, and reports it', async () => {
    await put('a/closed/old', LIMIT - 1);
    await put('a/open/old', LIMIT - 1);
    const found = await older((key) => {
      // Stands for the error of a file: the tests run as root, whom no mode keeps out.
      if (key === 'a/closed/old') throw Object.assign(new Error('denied'), { code: 'EACCES' });
      return LIMIT;
    });
    expect(found.map(({ key }) => key)).toEqual(['a/open/old']);
    expect(unreadable).toEqual(['a/closed/old']);
  });

  it('leaves alone the folder that mkfs makes at the top of a volume', async () => {
    await put('a/old', LIMIT - 1);
    await mkdir(join(folder, 'lost+found'));
    await writeFile(join(folder, 'lost+found/old'), '');
    expect((await older(() => Number.POSITIVE_INFINITY)).map(({ key }) => key)).toEqual(['a/old']);
  });

  it('finds nothing in a store that is gone, and says so', async () => {
    await put('a/old', LIMIT - 1);
    await remove();
    await expect(older(() => LIMIT)).rejects.toThrow('marker');
  });
});
