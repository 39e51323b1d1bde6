import { existsSync, readdirSync, readlinkSync, realpathSync, rmdirSync, unlinkSync } from 'node:fs';
import { link, mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { copyFile } from '../../../../src/store/file/copy-file.js';
import { createFileFolders, type FileFolders } from '../../../../src/store/file/file-folders.js';
import { createFilePublisher } from '../../../../src/store/file/file-publisher.js';
import { createFileRoot, type FileRoot } from '../../../../src/store/file/file-root.js';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { createFileMeta, type FileMeta } from '../../../../src/store/file/meta/file-meta.js';
import { openObject } from '../../../../src/store/file/read-file.js';
import { openTempFile, writeFully } from '../../../../src/store/file/temp-file.js';
import type { ObjectStore } from '../../../../src/store/object-store.js';

const headers = (writer: string) => ({ contentType: 'text/plain', metadata: { writer } });

/** Moments between two steps that no test can hit by chance, reached by acting within a step. */
describe('the file store at the worst moment', () => {
  let path: string;
  let root: FileRoot;
  let folders: FileFolders;
  let meta: FileMeta;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'file-races-'));
    root = createFileRoot(path, { fsync: true });
    await root.claim();
    folders = createFileFolders(root, { fsync: true });
    meta = createFileMeta(join(path, '.meta'), folders, { fsync: true });
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  it('reads new bytes with new metadata when the object is replaced between opening and describing it', async () => {
    const store = createFileStore({ directory: path, partSize: 1024 });
    await store.replace('a/b', Buffer.from('old'), headers('old'));
    let interfered = false;
    const opened = await openObject(root, 'a/b', {
      ...meta,
      async readOwn(key, inode) {
        if (!interfered) {
          interfered = true;
          await store.replace('a/b', Buffer.from('new'), headers('new'));
        }
        return meta.readOwn(key, inode);
      },
    });
    expect(opened?.info.metadata).toEqual({ writer: 'new' });
    expect(await opened?.handle.readFile('utf8')).toBe('new');
    await opened?.handle.close();
  });

  /** While the event loop stands still: waits until the kernel has opened the object, then acts as another process that removes it. */
  function removeOnceOpened(key: string): void {
    const object = join(realpathSync(path), key);
    const isOpen = () =>
      readdirSync('/proc/self/fd').some((fd) => {
        const link = `/proc/self/fd/${fd}`;
        return existsSync(link) && readlinkSync(link) === object;
      });
    const end = performance.now() + 60_000;
    while (!isOpen()) if (performance.now() > end) throw new Error(`${object} is not opened`);
    unlinkSync(object);
    rmdirSync(dirname(object));
  }

  it.each<[string, (store: ObjectStore) => Promise<unknown>, unknown]>([
    ['deletes', (store) => store.delete('a/b'), undefined],
    ['reads', (store) => store.read('a/b'), null],
    ['describes', (store) => store.head('a/b'), null],
  ])(
    '%s nothing when another process removes the object and prunes its folder once it is open',
    async (_, call, result) => {
      const store = createFileStore({ directory: path, partSize: 1024 });
      await store.create('a/b', Buffer.from('x'), headers('me'));
      const calling = call(store);
      removeOnceOpened('a/b');
      expect(await calling).toEqual(result);
    },
  );

  it.each([
    ['removes', 'to a free key'],
    ['removes', 'over another object'],
    ['replaces', 'to a free key'],
    ['replaces', 'over another object'],
  ])('copies nothing when another process %s the source once it was seen, %s', async (how, where) => {
    const store = createFileStore({ directory: path, partSize: 1024 });
    await store.create('a/b', Buffer.from('seen'), headers('me'));
    if (where === 'over another object') await store.create('c/d', Buffer.from('y'), headers('you'));
    const [from, over] = await Promise.all([store.head('a/b'), store.head('c/d')]);
    if (from === null) throw new Error('a/b is missing');
    let interfered = false;
    const interfering: FileFolders = {
      ...folders,
      async ensure(folder) {
        if (!interfered && how === 'removes') await store.delete('a/b');
        if (!interfered && how === 'replaces')
          await store.replace('a/b', Buffer.from('other'), headers('other'));
        interfered = true;
        await folders.ensure(folder);
      },
    };
    const publisher = createFilePublisher(root, interfering, meta, true);
    const parts = { root, temporary: join(path, '.tmp'), folders: interfering, publisher };
    expect(await copyFile(parts, { from, key: 'c/d', headers: headers('copy'), over })).toBe('changed');
    expect(await store.head('c/d')).toEqual(over);
    expect(await store.abortUploads('')).toBe(0);
  });

  it.each(['is made twice', 'fails afterwards'])(
    'keeps the metadata of an object whose link %s',
    async (how) => {
      const temp = await openTempFile(join(path, '.tmp'), 'a/b', folders);
      await writeFully(temp.handle, Buffer.from('bytes'), 0);
      const linking: FileMeta = {
        ...meta,
        async write(...of) {
          await meta.write(...of);
          await mkdir(join(path, 'a'), { recursive: true });
          await link(temp.path, join(path, 'a/b'));
          if (how === 'fails afterwards') throw new Error('EIO');
        },
      };
      const creating = createFilePublisher(root, folders, linking, true).create('a/b', temp, headers('own'));
      expect(await creating.catch(() => 'failed')).toBe(how === 'is made twice' ? 'exists' : 'failed');
      const opened = await openObject(root, 'a/b', meta);
      expect(opened?.info.metadata).toEqual({ writer: 'own' });
      await temp.discard();
      await opened?.handle.close();
    },
  );

  it('makes no object of a write that slept for longer than fifteen minutes', async () => {
    let now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
    const sleeping: FileFolders = {
      ...folders,
      async ensure(folder) {
        await folders.ensure(folder);
        now += 15 * 60_000 + 1;
      },
    };
    const publisher = createFilePublisher(root, sleeping, meta, true);
    const temp = await openTempFile(join(path, '.tmp'), 'a/b', folders);
    try {
      await expect(publisher.create('a/b', temp, headers('late'))).rejects.toThrow('a/b came too late');
      expect(await openObject(root, 'a/b', meta)).toBeNull();
    } finally {
      clock.mockRestore();
      await temp.discard();
    }
  });

  it('makes the folder again when another process prunes it before the link', async () => {
    let interfered = false;
    const pruned: FileFolders = {
      ...folders,
      async ensure(folder) {
        await folders.ensure(folder);
        if (folder !== join(path, 'a') || interfered) return;
        interfered = true;
        await rmdir(folder);
      },
    };
    const publisher = createFilePublisher(root, pruned, meta, true);
    const temp = await openTempFile(join(path, '.tmp'), 'a/b', folders);
    await writeFully(temp.handle, Buffer.from('x'), 0);
    expect(await publisher.create('a/b', temp, headers('me'))).toBe('created');
    await temp.discard();
    expect(interfered).toBe(true);
    expect(await readFile(join(path, 'a/b'), 'utf8')).toBe('x');
    const opened = await openObject(root, 'a/b', meta);
    expect(opened?.info.metadata).toEqual({ writer: 'me' });
    await opened?.handle.close();
  });
});
