import { execFileSync } from 'node:child_process';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
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

async function found(): Promise<ListedObject> {
  for await (const each of store.list('', { anyOrder: true })) return each;
  throw new Error('nothing found');
}

describe('the end of files by age', () => {
  it('removes what was found with its metadata and its folders, once', async () => {
    await put('a/b/old', LIMIT - HOUR);
    const old = await found();
    const results = await Promise.all([store.expire?.(old), store.expire?.(old)]);
    expect(results.sort()).toEqual(['missing', 'removed']);
    expect(await store.head('a/b/old')).toBeNull();
    expect((await readdir(folder)).sort()).toEqual(['.meta', '.tmp', '.transcript-receiver']);
    expect(await readdir(join(folder, '.meta'))).toEqual([]);
  });

  it('never removes what was written to the key since', async () => {
    await put('a/b', LIMIT - HOUR);
    const old = await found();
    await store.delete('a/b');
    await put('a/b', LIMIT - HOUR, 'another content');
    expect(await store.expire?.(old)).toBe('replaced');
    await store.delete('a/b');
    await put('a/b', LIMIT);
    expect(await store.expire?.(old)).toBe('replaced');
    expect(await store.head('a/b')).toMatchObject({ size: 7, metadata: HEADERS.metadata });
  });
});

describe('a listing of files', () => {
  it('goes on beside an object that cannot be read, and reports it', async () => {
    // The path of the file, but not that of its folder, is longer than the system takes.
    const deep = folder + `/${'x'.repeat(199)}`.repeat(20);
    const directory = deep.slice(0, 3945);
    const name = 'y'.repeat(200);
    await mkdir(directory, { recursive: true });
    store = createFileStore({ directory, partSize: 1024, fsync: false });
    await store.create('a/open', Buffer.from('content'), HEADERS);
    execFileSync('touch', [name], { cwd: join(directory, 'a') });
    const unreadable: string[] = [];
    const onUnreadable = (key: string) => void unreadable.push(key);
    const listed = await Array.fromAsync(store.list('', { onUnreadable }), ({ key }) => key);
    execFileSync('rm', [name], { cwd: join(directory, 'a') });
    expect(listed).toEqual(['a/open']);
    expect(unreadable).toEqual([`a/${name}`]);
  });

  it('leaves alone the folder that mkfs makes at the top of a volume', async () => {
    await put('a/old', LIMIT);
    await mkdir(join(folder, 'lost+found'));
    await writeFile(join(folder, 'lost+found/old'), '');
    expect(await Array.fromAsync(store.keys(''))).toEqual(['a/old']);
  });

  it('fails in a store that went away meanwhile', async () => {
    await put('a/one', LIMIT);
    const walk = store.keys('')[Symbol.asyncIterator]();
    await walk.next();
    await remove();
    await expect(walk.next()).rejects.toThrow('marker');
  });
});
