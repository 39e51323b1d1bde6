import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const MARKER = '.transcript-receiver';
const TEXT = { contentType: 'text/plain', metadata: {} };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
let store: ObjectStore;

const open = () => createFileStore({ directory: path, partSize: 1024 });
const put = (key: string, to = store) => to.create(key, Buffer.from(key), TEXT);
const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

beforeEach(async () => {
  folder = await temporaryFolder();
  path = `${folder.path}/store`;
  store = open();
});

afterEach(() => folder.remove());

const keysOf = (from: ObjectStore) => Array.fromAsync(from.list(''), ({ key }) => key);

describe('the folder of a file store', () => {
  it('is marked at the first write, once, by however many processes', async () => {
    const others = Array.from({ length: 5 }, open);
    await Promise.all(others.map((other, n) => put(`a/${n}`, other)));
    const marker = await readFile(`${path}/${MARKER}`, 'utf8');
    await put('b', open());
    expect(await readFile(`${path}/${MARKER}`, 'utf8')).toBe(marker);
    expect((await readdir(path)).sort()).toEqual(['.meta', '.tmp', MARKER, 'a', 'b']);
  });

  it('is not made by looking', async () => {
    expect(await store.head('a')).toBeNull();
    expect(await keysOf(store)).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  it('of a version without markers is marked and goes on', async () => {
    await put('jobs/a');
    await rm(`${path}/${MARKER}`);
    store = open();
    expect(await put('jobs/b')).toBe('created');
    expect(await keysOf(store)).toEqual(['jobs/a', 'jobs/b']);
    expect(existsSync(`${path}/${MARKER}`)).toBe(true);
  });

  it('may be a new volume', async () => {
    await mkdir(`${path}/lost+found`, { recursive: true });
    expect(await put('a')).toBe('created');
  });

  it('is refused when it is full of something else', async () => {
    await mkdir(path);
    await writeFile(`${path}/holiday.jpg`, '');
    await expect(put('a')).rejects.toThrow(/is neither a store nor empty \(it holds "holiday.jpg"\)/);
    expect(await readdir(path)).toEqual(['holiday.jpg']);
  });

  it('is refused when its marker is damaged', async () => {
    await mkdir(path);
    await writeFile(`${path}/${MARKER}`, 'oops');
    await expect(put('a')).rejects.toThrow(/is not a marker of a store/);
  });

  it('may be reached through a symbolic link', async () => {
    await mkdir(`${folder.path}/volume`);
    await symlink(`${folder.path}/volume`, path);
    expect(await put('jobs/a/b')).toBe('created');
    expect(await store.head('jobs/a/b')).toMatchObject({ size: 8 });
  });
});

describe.each([
  ['unmounted', async () => rename(path, `${folder.path}/away`).then(() => mkdir(path))],
  ['removed', async () => rename(path, `${folder.path}/away`)],
  ['replaced by another store', swapForAnother],
] as const)('a folder that was %s under a running process', (_, happens) => {
  const tries: Readonly<Record<string, () => Promise<unknown>>> = {
    create: () => put('jobs/new/object'),
    'create at a known folder': () => put('jobs/a/other'),
    replace: () => store.replace('jobs/a/object', Buffer.from(''), TEXT),
    startUpload: () => store.startUpload('jobs/new/object', TEXT),
    head: () => store.head('jobs/a/object'),
    read: () => store.read('jobs/a/object'),
    list: () => keysOf(store),
    delete: () => store.delete('jobs/a/object'),
    sweep: () => store.sweepUploads(new Date()),
  };

  it.each(Object.keys(tries))('fails to %s, and takes nothing', async (name) => {
    await put('jobs/a/object');
    await happens();
    const before = await contents();
    await expect(tries[name]?.()).rejects.toThrow(
      /is not the store it was: its marker .* Bring the (?:former )?folder back/,
    );
    expect(await contents()).toEqual(before);
  });

  it('does not receive uploads in flight', async () => {
    const upload = await store.startUpload('jobs/a/object', TEXT);
    await upload.write(Buffer.from('x'));
    await happens();
    const before = await contents();
    await expect(upload.complete()).rejects.toThrow(StoreError);
    expect(await contents()).toEqual(before);
  });

  it('is a store again when it is back', async () => {
    await put('jobs/a/object');
    await happens();
    await expect(put('jobs/b')).rejects.toThrow(StoreError);
    await rm(path, { recursive: true, force: true });
    await cp(`${folder.path}/away`, path, { recursive: true });
    expect(await put('jobs/b')).toBe('created');
    expect(await keysOf(store)).toEqual(['jobs/a/object', 'jobs/b']);
  });
});

async function swapForAnother(): Promise<void> {
  await rename(path, `${folder.path}/away`);
  await put('foreign', open());
}

async function contents(): Promise<string[] | null> {
  return existsSync(path) ? (await readdir(path, { recursive: true })).sort() : null;
}

describe('what a file store makes', () => {
  it('is readable by its owner only', async () => {
    await put('jobs/a/object');
    await store.replace('jobs/a/doc', Buffer.from('x'), TEXT);
    const upload = await store.startUpload('jobs/a/upload', TEXT);
    await upload.complete();
    const pending = await store.startUpload('jobs/a/pending', TEXT);
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      const at = `${entry.parentPath}/${entry.name}`;
      expect([at, await mode(at)]).toEqual([at, entry.isDirectory() ? '700' : '600']);
    }
    expect(await mode(path)).toBe('700');
    await pending.abort();
  });

  it('is closed to others when a folder becomes a store, and stays as the operator opens it later', async () => {
    await mkdir(path);
    await chmod(path, 0o755);
    await put('a');
    expect(await mode(path)).toBe('700');
    await chmod(path, 0o750);
    await put('b', open());
    expect(await mode(path)).toBe('750');
  });
});
