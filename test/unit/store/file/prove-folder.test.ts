import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { PROOF_NAME } from '../../../../src/store/object-key.js';
import { BlockedKeyError, type ObjectStore, StoreGoneError } from '../../../../src/store/object-store.js';
import { mountSmallDisk } from '../../../chaos/small-disk.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const TEXT = { contentType: 'text/plain', metadata: {} };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let store: ObjectStore;
const at = (name: string) => join(folder.path, name);
const prove = () => store.prove(`ledger/${PROOF_NAME}`);

beforeEach(async () => {
  folder = await temporaryFolder();
  store = createFileStore({ directory: folder.path, partSize: 1024 });
});
afterEach(() => folder.remove());

describe('the proof that files can be created in a folder', () => {
  it('holds for a folder that does not exist yet, one that does, and leaves nothing', async () => {
    await prove();
    expect((await readdir(folder.path)).filter((name) => !name.startsWith('.'))).toEqual([]);
    await store.create('ledger/a', Buffer.from('a'), TEXT);
    await prove();
    expect(await readdir(at('ledger'))).toEqual(['a']);
  });

  it('fails for a folder with objects that is gone, until it is back', async () => {
    await store.create('ledger/a', Buffer.from('a'), TEXT);
    await rename(at('ledger'), `${folder.path}-away`);
    await expect(prove()).rejects.toThrow(StoreGoneError);
    await rename(`${folder.path}-away`, at('ledger'));
    await prove();
  });

  it.each(['ledger', 'tenant/ledger'])(
    'fails for a folder %s that is gone, and nothing begins it anew',
    async (name) => {
      const key = (last: string) => `${name}/${last}`;
      await store.create(key('a'), Buffer.from('a'), TEXT);
      await store.create('tenant/b', Buffer.from('b'), TEXT);
      await rename(at(name), `${folder.path}-away`);
      jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
      try {
        await expect(store.prove(key(PROOF_NAME))).rejects.toThrow(StoreGoneError);
        await expect(store.create(key('b'), Buffer.from('b'), TEXT)).rejects.toThrow(StoreGoneError);
        await rename(`${folder.path}-away`, at(name));
        await store.create(key('b'), Buffer.from('b'), TEXT);
        await rm(at(name), { recursive: true });
        await mkdir(at(name));
        expect(await store.create(key('c'), Buffer.from('c'), TEXT)).toBe('created');
      } finally {
        jest.restoreAllMocks();
      }
    },
  );

  it('is not replaced by a listing that finds nothing in a folder that is gone', async () => {
    const folders = () => Array.fromAsync(store.folders('ledger/'));
    expect(await folders()).toEqual([]);
    await store.create('ledger/dt/a', Buffer.from('a'), TEXT);
    await rename(at('ledger'), `${folder.path}-away`);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    try {
      await expect(folders()).rejects.toThrow(StoreGoneError);
      await rename(`${folder.path}-away`, at('ledger'));
      expect(await folders()).toEqual(['ledger/dt/']);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('holds for a folder that was pruned with its last object', async () => {
    await store.create('ledger/a', Buffer.from('a'), TEXT);
    await store.delete('ledger/a');
    await prove();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a deletion', () => store.delete('ledger/1/a')],
    ['an erasure', () => Array.fromAsync(store.purge('ledger/1/'))],
  ])('holds after %s of the last object beside metadata of a write that was killed', async (_, remove) => {
    await store.create('ledger/1/a', Buffer.from('a'), TEXT);
    await mkdir(at('.meta/ledger/2'));
    await writeFile(at('.meta/ledger/2/b#1.json'), JSON.stringify(TEXT));
    await remove();
    await prove();
  });

  it('leaves no folder of an erased job whose writes were killed', async () => {
    await store.create('jobs/1/a', Buffer.from('a'), TEXT);
    await writeFile(at('.meta/jobs/1/b#1.json'), JSON.stringify(TEXT));
    await Array.fromAsync(store.purge('jobs/1/'));
    await expect(readdir(at('jobs'))).rejects.toThrow('ENOENT');
  });

  (process.getuid?.() === 0 ? it : it.skip)(
    'fails for another file system that is mounted there',
    async () => {
      await store.create('ledger/a', Buffer.from('a'), TEXT);
      const disk = await mountSmallDisk(at('ledger'), 2 ** 20);
      try {
        await expect(prove()).rejects.toThrow(/another file system is mounted inside the store folder/);
      } finally {
        await disk?.unmount();
      }
      await prove();
    },
  );

  it('holds beside what a process left that was killed', async () => {
    await store.create('ledger/a', Buffer.from('a'), TEXT);
    await writeFile(at(`ledger/${PROOF_NAME}`), '');
    await prove();
    expect(await readdir(at('ledger'))).toEqual(['a']);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a file', () => writeFile(at('ledger'), '')],
    ['a link', async () => mkdir(at('other')).then(() => symlink(at('other'), at('ledger')))],
  ])('fails for %s in its place', async (_, put) => {
    await store.create('jobs/a', Buffer.from('a'), TEXT);
    await put();
    await expect(prove()).rejects.toThrow(BlockedKeyError);
    await rm(at('ledger'));
    await prove();
  });
});

describe('the id of a file store', () => {
  it('is made once, and pinned it keeps another store from being used or begun', async () => {
    expect(await store.identity()).toBeNull();
    const id = await store.begin();
    expect([await store.begin(), await store.identity()]).toEqual([id, id]);
    const open = (directory: string, pinned: string) =>
      createFileStore({ directory, partSize: 1024, id: pinned });
    expect(await open(folder.path, id).begin()).toBe(id);
    const other = open(folder.path, 'another');
    for (const use of [
      () => other.begin(),
      () => other.identity(),
      () => other.head('a'),
      () => other.create('a', Buffer.from(''), TEXT),
    ])
      await expect(use()).rejects.toThrow(/is the store .*, and store\.id is another/);
    const empty = open(at('.unmounted'), id);
    for (const use of [
      () => empty.begin(),
      () => empty.head('a'),
      () => empty.create('a', Buffer.from(''), TEXT),
    ])
      await expect(use()).rejects.toThrow(/holds no store, and store\.id is .*: bring the store back/);
    await expect(readdir(at('.unmounted'))).rejects.toThrow('ENOENT');
  });
});
