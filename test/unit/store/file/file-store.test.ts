import { createHook } from 'node:async_hooks';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import {
  type ListRange,
  type ObjectHeaders,
  type ObjectStore,
  StoreError,
} from '../../../../src/store/object-store.js';

const headers = (writer: string): ObjectHeaders => ({ contentType: 'text/plain', metadata: { writer } });

describe('the file store', () => {
  let folder: string;
  let store: ObjectStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-store-'));
    store = createFileStore({ directory: `${folder}/store`, partSize: 1024 });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const files = async (below: string): Promise<string[]> => {
    const entries = await readdir(`${folder}/store/${below}`, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };
  const visible = async (): Promise<string[]> =>
    (await readdir(`${folder}/store`)).filter((name) => !name.startsWith('.'));

  it('shows exactly the key layout', async () => {
    await store.create('jobs/j1/transcript.json', Buffer.from('{}'), headers('a'));
    expect(await visible()).toEqual(['jobs']);
    expect(await readFile(`${folder}/store/jobs/j1/transcript.json`, 'utf8')).toBe('{}');
    expect(await readdir(`${folder}/store/jobs/j1`)).toEqual(['transcript.json']);
  });

  it('lists a folder of more files than it holds names of, and reads it once where the order does not matter', async () => {
    const count = 10_500;
    await store.create('things/b/c', Buffer.from('x'), headers('a'));
    for (let n = 0; n < count; n += 1) writeFileSync(`${folder}/store/things/${n}`, '');
    let looked = 0;
    const signal = Object.assign(new AbortController().signal, {
      throwIfAborted() {
        looked += 1;
      },
    });
    const listed = async (range: ListRange) => {
      looked = 0;
      const keys = await Array.fromAsync(store.keys('things/', { ...range, signal }));
      return { keys, looked };
    };
    const sorted = await listed({});
    const unsorted = await listed({ anyOrder: true });
    const direct = await listed({ anyOrder: true, direct: true });
    const names = Array.from({ length: count }, (_, n) => `things/${n}`).sort();
    expect(sorted.keys).toEqual([...names, 'things/b/c']);
    expect(unsorted.keys.sort()).toEqual(sorted.keys);
    expect(direct.keys.sort()).toEqual(names);
    // Each name as it is read, and as it is listed.
    expect(direct.looked).toBe(count + 1 + count);
    expect(unsorted.looked).toBe(2 * (count + 2));
    expect(sorted.looked).toBeGreaterThan(unsorted.looked + count);
  });

  it('leaves no metadata and no temporary file of losers', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => store.create('a/b', Buffer.from(`${n}`), headers(`${n}`))),
    );
    await store.create('a/b', Buffer.from('late'), headers('late'));
    expect(await files('.meta')).toHaveLength(1);
    expect(await files('.tmp')).toEqual([]);
  });

  it('leaves one metadata file after replacing, none and no folder after deleting', async () => {
    for (const n of ['1', '2', '3']) await store.replace('a/b/c', Buffer.from(n), headers(n));
    expect(await files('.meta')).toHaveLength(1);
    await store.delete('a/b/c');
    expect(await readdir(`${folder}/store/.meta`)).toEqual([]);
    expect(await visible()).toEqual([]);
  });

  it('finds metadata again in a restored backup, where inodes differ', async () => {
    await store.create('a/b', Buffer.from('x'), headers('me'));
    await store.replace('a/c', Buffer.from('x'), headers('me'));
    await cp(`${folder}/store`, `${folder}/restored`, { recursive: true });
    const restored = createFileStore({ directory: `${folder}/restored`, partSize: 1024 });
    expect(await restored.head('a/b')).toMatchObject(headers('me'));
    await restored.replace('a/c', Buffer.from('y'), headers('you'));
    expect(await restored.head('a/c')).toMatchObject(headers('you'));
    await restored.delete('a/b');
    await restored.delete('a/c');
    expect(await readdir(`${folder}/restored/.meta`)).toEqual([]);
  });

  it('does not take metadata of a crashed creator for that of the object', async () => {
    await store.create('a/b', Buffer.from('x'), headers('me'));
    await writeFile(`${folder}/store/.meta/a/b#1.json`, JSON.stringify(headers('crashed')));
    await writeFile(`${folder}/store/.meta/a/c#1.json`, '{"contentTy');
    await writeFile(`${folder}/store/a/c`, 'put there by hand');
    expect(await store.head('a/b')).toMatchObject(headers('me'));
    expect(await store.head('a/c')).toMatchObject({ contentType: 'application/octet-stream', metadata: {} });
  });

  it('knows no headers of a restored object when several lie there', async () => {
    await store.create('a/b', Buffer.from('x'), headers('me'));
    await writeFile(`${folder}/store/.meta/a/b#1.json`, JSON.stringify(headers('crashed')));
    await cp(`${folder}/store`, `${folder}/restored`, { recursive: true });
    const restored = createFileStore({ directory: `${folder}/restored`, partSize: 1024 });
    expect(await restored.head('a/b')).toMatchObject({
      contentType: 'application/octet-stream',
      metadata: {},
    });
  });

  it('is not misled by other files among its metadata', async () => {
    await store.create('a/b', Buffer.from('x'), headers('me'));
    await cp(`${folder}/store`, `${folder}/restored`, { recursive: true });
    for (const name of ['README', '#1.json', 'b#x.json', 'b#1.json~', 'b.json'])
      await writeFile(`${folder}/restored/.meta/a/${name}`, JSON.stringify(headers('foreign')));
    const restored = createFileStore({ directory: `${folder}/restored`, partSize: 1024 });
    expect(await restored.head('a/b')).toMatchObject(headers('me'));
    await restored.sweepUploads(new Date(Date.now() + 1000));
    expect(await restored.head('a/b')).toMatchObject(headers('me'));
  });

  it('leaves a folder where an object should be as it is when that is deleted', async () => {
    await store.create('a/b/c', Buffer.from('x'), headers('me'));
    await store.delete('a/b');
    expect(await store.head('a/b/c')).toMatchObject(headers('me'));
  });

  it('asks the file system for no file whose key alone is listed', async () => {
    await store.create('many/first', Buffer.from(''), headers('a'));
    for (let n = 0; n < 2000; n += 1) writeFileSync(`${folder}/store/many/n${n}`, '');
    let requests = 0;
    const hook = createHook({
      init(_, type) {
        if (type === 'FSREQPROMISE') requests += 1;
      },
    }).enable();
    let listed = 0;
    for await (const _ of store.keys('many/')) listed += 1;
    hook.disable();
    expect(listed).toBe(2001);
    expect(requests).toBeLessThan(50);
  });

  it('lists a folder only while an object lies in it', async () => {
    await store.create('a/b/c', Buffer.from('x'), headers('me'));
    await mkdir(`${folder}/store/a/empty/deeper`, { recursive: true });
    await writeFile(`${folder}/store/a/object`, 'x');
    const found = await Array.fromAsync(store.folders('a/'));
    expect(found).toEqual(['a/b/']);
  });

  describe('that sweeps', () => {
    const long = 'n'.repeat(250);
    const later = () => new Date(Date.now() + 1000);
    const sweep = (olderThan: Date) =>
      createFileStore({ directory: `${folder}/store`, partSize: 1024 }).sweepUploads(olderThan);

    beforeEach(async () => {
      for (const key of ['a/b', 'a/c', `a/${long}`]) await store.create(key, Buffer.from('x'), headers(key));
      const [crashed, gone] = ['crashed', 'gone'].map((name) => JSON.stringify(headers(name)));
      const stem = hash('sha256', long);
      await mkdir(`${folder}/store/.meta/deep/er`, { recursive: true });
      for (const name of ['a/b#1.json', `a/${stem}#1.json`])
        await writeFile(`${folder}/store/.meta/${name}`, crashed ?? '');
      for (const name of ['a/d#1.json', 'deep/er/e#2.json'])
        await writeFile(`${folder}/store/.meta/${name}`, gone ?? '');
    });

    it('removes metadata that crashed processes left, and all that is empty then', async () => {
      expect(await sweep(later())).toBe(0);
      expect(await readdir(`${folder}/store/.meta`)).toEqual(['a']);
      expect(await files('.meta')).toHaveLength(3);
      for (const key of ['a/b', 'a/c', `a/${long}`])
        expect(await store.head(key)).toMatchObject(headers(key));
    });

    it('keeps recent files: their object may be about to appear', async () => {
      await sweep(new Date(Date.now() - 60_000));
      expect(await files('.meta')).toHaveLength(7);
    });

    it('goes on beside a folder that cannot be read, and names it in the end', async () => {
      const orphans = Array.from({ length: 8 }, (_, n) => `orphan${n}`);
      for (const name of ['stuck', ...orphans]) {
        await mkdir(`${folder}/store/.meta/${name}`);
        await writeFile(`${folder}/store/.meta/${name}/f#3.json`, '{}');
      }
      // A link to itself fails for root as well.
      await symlink('stuck', `${folder}/store/stuck`);
      await expect(sweep(later())).rejects.toThrow(/^sweep: .*"stuck"/);
      expect((await files('.meta')).filter((name) => name === 'f#3.json')).toHaveLength(1);
    });

    it('leaves the metadata of restored objects, and of objects that are restored after it', async () => {
      await cp(`${folder}/store`, `${folder}/restored`, { recursive: true });
      await rm(`${folder}/restored/a/c`);
      const restored = createFileStore({ directory: `${folder}/restored`, partSize: 1024 });
      for (const crashed of ['a/b#1.json', 'a/d#1.json']) await rm(`${folder}/restored/.meta/${crashed}`);
      // Backup programs bring back when a file was written.
      const written = new Date('2020-01-01');
      for (const name of await readdir(`${folder}/restored/.meta/a`))
        await utimes(`${folder}/restored/.meta/a/${name}`, written, written);
      await restored.sweepUploads(new Date(Date.now() - 60_000));
      await cp(`${folder}/store/a/c`, `${folder}/restored/a/c`);
      for (const key of ['a/b', 'a/c']) expect(await restored.head(key)).toMatchObject(headers(key));
    });

    it('leaves the metadata of restored objects however old it is', async () => {
      await cp(`${folder}/store`, `${folder}/restored`, { recursive: true });
      const restored = createFileStore({ directory: `${folder}/restored`, partSize: 1024 });
      await restored.sweepUploads(later());
      expect(await restored.head('a/c')).toMatchObject(headers('a/c'));
    });
  });

  it('keeps metadata of names apart that differ only behind the metadata mark', async () => {
    await store.create('a', Buffer.from('x'), headers('a'));
    await store.create('a#1', Buffer.from('x'), headers('a#1'));
    await store.create('a#1.json', Buffer.from('x'), headers('a#1.json'));
    for (const key of ['a', 'a#1', 'a#1.json']) expect(await store.head(key)).toMatchObject(headers(key));
  });

  it('reports a folder where an object should be, and an object where a folder should be', async () => {
    await store.create('a/b', Buffer.from('x'), headers('me'));
    await expect(store.create('a', Buffer.from('x'), headers('me'))).rejects.toThrow(StoreError);
    await expect(store.create('a/b/c', Buffer.from('x'), headers('me'))).rejects.toThrow(
      /create: there is an object where a folder is needed/,
    );
    expect(await files('.meta')).toHaveLength(1);
    expect(await files('.tmp')).toEqual([]);
  });

  it('reports errors of the file system as StoreError, with the code and the key', async () => {
    await mkdir(`${folder}/store`);
    await writeFile(`${folder}/store/.tmp`, 'in the way');
    await expect(store.create('a', Buffer.from('x'), headers('me'))).rejects.toThrow(
      /^create: .*\((EEXIST|ENOTDIR)\) at "a"$/,
    );
    await expect(store.startUpload('a', headers('me'))).rejects.toThrow(StoreError);
  });

  it('ends a read that began before the object was replaced or deleted with the old bytes', async () => {
    await store.replace('a', Buffer.alloc(500_000, 'old'), headers('old'));
    const before = await store.read('a');
    await store.replace('a', Buffer.from('new'), headers('new'));
    await store.delete('a');
    expect(before && (await buffer(before.body)).length).toBe(500_000);
  });

  it('measures its clock by the times of files, and creates nothing after a clock was set', async () => {
    const put = (key: string) => store.create(key, Buffer.from(''), headers('a'));
    await put('first');
    // A busy machine may take seconds for the file; the clock is set by hours.
    expect(Math.abs(store.clockOffset())).toBeLessThan(60_000);
    const real = Date.now;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() + 2 * 3_600_000);
    try {
      await expect(put('late')).rejects.toThrow('late came too late');
      expect(await store.head('late')).toBeNull();
      expect(store.clockOffset() / 3_600_000).toBeCloseTo(-2, 2);
      expect(await put('late')).toBe('created');
    } finally {
      clock.mockRestore();
    }
  });

  it('works without fsync', async () => {
    const scratch = createFileStore({ directory: `${folder}/scratch`, partSize: 1024, fsync: false });
    expect(await scratch.create('a/b', Buffer.from('x'), headers('me'))).toBe('created');
    expect(await scratch.head('a/b')).toMatchObject(headers('me'));
  });

  it('lists nothing before anything was written', async () => {
    for await (const object of store.list('')) throw new Error(object.key);
    for await (const name of store.folders('')) throw new Error(name);
    expect(await store.head('a')).toBeNull();
    expect(await store.sweepUploads(new Date())).toBe(0);
  });
});
