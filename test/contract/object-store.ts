import { hash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { artefactMetadata } from '../../src/domain/artefact-metadata.js';
import {
  type ListRange,
  type ObjectHeaders,
  type ObjectStore,
  StoreError,
} from '../../src/store/object-store.js';
import { openStore, type StoreOptions } from '../../src/store/open-store.js';

/** A place to test in; `options.url` is fresh for the suite, `dispose` removes what is left of it. */
export interface StoreUnderTest {
  readonly options: StoreOptions;
  dispose(): Promise<void>;
}

const TEXT: ObjectHeaders = { contentType: 'text/plain', metadata: { 'job-id': 'j1', origin: 'callback' } };

/**
 * What every store has to hold: one suite, run by the file store, S3 servers and the stand-in.
 * `listed` objects are more than two pages of a listing; a store without pages needs fewer.
 */
export function describeObjectStore(name: string, open: () => Promise<StoreUnderTest>, listed = 2_105): void {
  describe(`${name} as an object store`, () => {
    let place: StoreUnderTest;
    let store: ObjectStore;
    let part: number;

    beforeAll(async () => {
      place = await open();
      store = await openStore(place.options);
      part = store.partSize;
    });
    afterAll(async () => {
      await store?.close();
      await place?.dispose();
    });

    const put = (key: string, body: string | Buffer = key) => store.create(key, Buffer.from(body), TEXT);
    const text = async (key: string): Promise<string | null> => {
      const reading = await store.read(key);
      return reading === null ? null : (await buffer(reading.body)).toString();
    };
    const keysBelow = async (prefix: string, startAfter?: string, limit?: number): Promise<string[]> => {
      const keys: string[] = [];
      const options = {
        ...(startAfter !== undefined && { startAfter }),
        ...(limit !== undefined && { limit }),
      };
      for await (const { key } of store.list(prefix, options)) keys.push(key);
      const alone = await Array.fromAsync(store.keys(prefix, options));
      expect(alone).toEqual(keys);
      return keys;
    };
    const foldersBelow = (prefix: string) => Array.fromAsync(store.folders(prefix));

    describe('create', () => {
      it('writes an object that reads back byte for byte', async () => {
        const body = randomBytes(70_000);
        expect(await put('create/bytes', body)).toBe('created');
        const reading = await store.read('create/bytes');
        expect(reading && (await buffer(reading.body)).equals(body)).toBe(true);
      });

      it('writes an empty object', async () => {
        expect(await put('create/empty', '')).toBe('created');
        expect(await text('create/empty')).toBe('');
        expect((await store.head('create/empty'))?.size).toBe(0);
      });

      it('leaves an object that is there as it is', async () => {
        await put('create/first', 'first');
        const other: ObjectHeaders = { contentType: 'text/html', metadata: { origin: 'second' } };
        expect(await store.create('create/first', Buffer.from('second'), other)).toBe('exists');
        expect(await text('create/first')).toBe('first');
        expect(await store.head('create/first')).toMatchObject(TEXT);
      });

      it('lets exactly one of 20 concurrent creators win, with its own metadata', async () => {
        for (let round = 0; round < 10; round += 1) {
          const key = `create/race-${round}/object`;
          // In a folder that another one is still making, all come to the same step at once.
          const maker = put(`create/race-${round}/maker`, 'maker');
          const results = await Promise.all(
            Array.from({ length: 20 }, (_, n) =>
              store.create(key, Buffer.from(`body ${n}`), { ...TEXT, metadata: { writer: `${n}` } }),
            ),
          );
          expect(await maker).toBe('created');
          expect(results.filter((result) => result === 'created')).toHaveLength(1);
          const winner = results.indexOf('created');
          expect(await text(key)).toBe(`body ${winner}`);
          expect((await store.head(key))?.metadata).toEqual({ writer: `${winner}` });
        }
      });

      it.each([
        ['a plus, a space and percent signs', 'keys/a+b c%20d%.txt'],
        ['characters of URLs', "keys/?q=1&x#y=;:@!$',()*~[].txt"],
        ['unicode', 'keys/Ünïcödé 漢字 🎧.txt'],
        ['dots', 'keys/..a/b../...'],
        ['XML', 'keys/<a>&amp;"b\'.xml'],
      ])('takes %s in a key', async (_, key) => {
        expect(await put(key, 'here')).toBe('created');
        expect(await put(key, 'again')).toBe('exists');
        expect(await text(key)).toBe('here');
        expect(await keysBelow(key)).toEqual([key]);
        expect(await keysBelow('keys/')).toContain(key);
      });

      // The others in test/unit/store/object-key.test.ts.
      it.each([
        ['a parent segment', 'a/../../b'],
        ['the metadata folder', '.meta/a'],
      ])('refuses %s as a key in every operation', async (_, key) => {
        await expect(put(key)).rejects.toThrow(StoreError);
        await expect(store.replace(key, Buffer.from(''), TEXT)).rejects.toThrow(StoreError);
        await expect(store.startUpload(key, TEXT)).rejects.toThrow(StoreError);
        await expect(store.head(key)).rejects.toThrow(StoreError);
        await expect(store.read(key)).rejects.toThrow(StoreError);
        await expect(store.delete(key)).rejects.toThrow(StoreError);
      });

      it('takes a name of 255 bytes', async () => {
        const key = `long/${'n'.repeat(255)}`;
        expect(await put(key, 'long')).toBe('created');
        expect(await store.head(key)).toMatchObject({ key, size: 4, ...TEXT });
      });
    });

    describe('headers', () => {
      it('come back as they were given', async () => {
        const headers = {
          contentType: 'application/json; charset=utf-8',
          metadata: { 'file-name': 'a%20b+c "quoted"; x=1, y', status: '', sha256: hash('sha256', '{}') },
        };
        await store.create('headers/all', Buffer.from('{}'), headers);
        const info = await store.head('headers/all');
        expect(info).toMatchObject({ contentType: headers.contentType, size: 2, key: 'headers/all' });
        expect(info?.metadata['file-name']).toBe(headers.metadata['file-name']);
        expect(info?.metadata.sha256).toBe(headers.metadata.sha256);
        expect(info?.metadata.status ?? '').toBe('');
        expect(Math.abs(Date.now() - (info?.modifiedAt.getTime() ?? 0))).toBeLessThan(600_000);
      });

      it('come back whole at the largest size that an artefact can have', async () => {
        // Every character that a context may hold, in eight values of full length.
        const ascii = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
        const names = ['call', 'customer', 'case_id', 'Tenant.Id', 'agent', 'queue', 'ticket', 'constructor'];
        const values = names.map((_, index) => (ascii.slice(index * 9) + ascii).slice(0, 128));
        const metadata = artefactMetadata(
          {
            jobId: 'j'.repeat(64),
            status: 's'.repeat(64),
            source: 'source',
            deliveryId: 'D'.repeat(26),
            receivedAt: '2026-01-02T03:04:05.678Z',
            region: 'eu1',
            origin: 'recovery',
            context: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])),
          },
          {
            kind: 'transcript.json-v2',
            sha256: hash('sha256', '{}'),
            fileName: 'f'.repeat(600),
            partName: 'p'.repeat(600),
          },
        );
        expect(Object.keys(metadata)).toHaveLength(19);
        await store.create('headers/context', Buffer.from('{}'), { contentType: 'text/plain', metadata });
        expect((await store.head('headers/context'))?.metadata).toEqual(metadata);
      });

      it('are refused rather than corrupted', async () => {
        const metadata = { name: 'a\r\nx-amz-acl: public-read' };
        const headers: ObjectHeaders = { contentType: 'text/plain', metadata };
        await expect(store.create('headers/bad', Buffer.from(''), headers)).rejects.toThrow(StoreError);
        await expect(store.replace('headers/bad', Buffer.from(''), headers)).rejects.toThrow(StoreError);
        await expect(store.startUpload('headers/bad', headers)).rejects.toThrow(StoreError);
        expect(await store.head('headers/bad')).toBeNull();
      });
    });

    describe('read', () => {
      it('gives null for what is not there', async () => {
        await put('read/object');
        expect(await store.read('read/none')).toBeNull();
        expect(await store.head('read/none')).toBeNull();
        expect(await store.head('read/object/below')).toBeNull();
        expect(await store.head('read')).toBeNull();
        expect(await store.read('read')).toBeNull();
      });

      it.each([
        [{ start: 0, end: 0 }, '0'],
        [{ start: 2, end: 5 }, '2345'],
        [{ start: 8, end: 100 }, '89'],
        [{ start: 10, end: 20 }, ''],
      ])('gives the range %j, clipped to the object', async (range, expected) => {
        await put('read/digits', '0123456789');
        const reading = await store.read('read/digits', range);
        expect(reading?.info).toMatchObject({ size: 10, ...TEXT });
        expect(reading && (await buffer(reading.body)).toString()).toBe(expected);
      });

      it('can be given up half-way', async () => {
        await put('read/large', Buffer.alloc(300_000, 'x'));
        const reading = await store.read('read/large');
        for await (const chunk of reading?.body ?? []) {
          expect(chunk.length).toBeGreaterThan(0);
          break;
        }
        expect(reading?.body.destroyed).toBe(true);
      });
    });

    describe('copy', () => {
      const headed = async (key: string) => {
        const info = await store.head(key);
        if (info === null) throw new Error(`${key} is missing`);
        return info;
      };
      const HTML: ObjectHeaders = { contentType: 'text/html', metadata: { kind: 'copy' } };

      it.each([
        ['an empty object', () => 0],
        ['a small one', () => 5],
        ['one of several parts', () => 2 * part + 3],
      ])('copies %s byte for byte, with headers of its own', async (_, size) => {
        const body = randomBytes(size());
        const folder = `copy/${body.length}`;
        await put(`${folder}/from`, body);
        const from = await headed(`${folder}/from`);
        expect(await store.copy(from, `${folder}/to`, HTML, null)).toBe('copied');
        const copy = await store.read(`${folder}/to`);
        expect(copy && (await buffer(copy.body)).equals(body)).toBe(true);
        expect(await headed(`${folder}/to`)).toMatchObject({ ...HTML, size: body.length });
        expect(await headed(`${folder}/from`)).toEqual(from);
        await store.delete(`${folder}/from`);
        expect(await headed(`${folder}/to`)).toMatchObject(HTML);
      });

      it('copies from and to keys with any characters', async () => {
        await put('copy/a+b c%20d%/Ünïcödé', 'here');
        const from = await headed('copy/a+b c%20d%/Ünïcödé');
        expect(await store.copy(from, 'copy/q?x#y=ü', TEXT, null)).toBe('copied');
        expect(await text('copy/q?x#y=ü')).toBe('here');
      });

      it('leaves an object that is there, unless it is the one to replace', async () => {
        await put('copy/one', 'one');
        await put('copy/two', 'two');
        const one = await headed('copy/one');
        const two = await headed('copy/two');
        expect(await store.copy(one, 'copy/two', TEXT, null)).toBe('changed');
        expect(await store.copy(one, 'copy/two', TEXT, { ...two, version: one.version })).toBe('changed');
        expect(await store.copy(one, 'copy/none', TEXT, two)).toBe('changed');
        expect(await text('copy/two')).toBe('two');
        expect(await store.copy(one, 'copy/two', HTML, two)).toBe('copied');
        expect(await text('copy/two')).toBe('one');
        expect(await headed('copy/two')).toMatchObject(HTML);
        expect(await store.copy(one, 'copy/two', TEXT, two)).toBe('changed');
        expect(await keysBelow('copy/none')).toEqual([]);
      });

      it('copies nothing when the source is not what was seen', async () => {
        await put('copy/source', 'before');
        const before = await headed('copy/source');
        await store.replace('copy/source', Buffer.from('after!'), TEXT);
        expect(await store.copy(before, 'copy/target', TEXT, null)).toBe('changed');
        await store.delete('copy/source');
        expect(await store.copy(before, 'copy/target', TEXT, null)).toBe('changed');
        expect(await store.head('copy/target')).toBeNull();
        expect(await store.abortUploads('copy/')).toBe(0);
      });

      it('lets the objects change hands, back and forth', async () => {
        await put('copy/hands/first', 'first');
        await put('copy/hands/second', 'second');
        await store.copy(await headed('copy/hands/first'), 'copy/hands/counts', TEXT, null);
        for (const name of ['second', 'first', 'second']) {
          const from = await headed(`copy/hands/${name}`);
          const over = await headed('copy/hands/counts');
          expect(await store.copy(from, 'copy/hands/counts', HTML, over)).toBe('copied');
          expect(await text('copy/hands/counts')).toBe(name);
          expect(await headed('copy/hands/counts')).toMatchObject(HTML);
        }
      });

      it('lets one of 10 concurrent creators win', async () => {
        await put('copy/race/from', 'from');
        const from = await headed('copy/race/from');
        const results = await Promise.all(
          Array.from({ length: 10 }, () => store.copy(from, 'copy/race/to', TEXT, null)),
        );
        expect(results.filter((result) => result === 'copied')).toHaveLength(1);
      });
    });

    describe('replace', () => {
      it('writes whether or not an object is there', async () => {
        await store.replace('replace/a/doc', Buffer.from('one'), TEXT);
        expect(await text('replace/a/doc')).toBe('one');
        await store.replace('replace/a/doc', Buffer.from('two'), {
          contentType: 'a/b',
          metadata: { n: '2' },
        });
        expect(await text('replace/a/doc')).toBe('two');
        expect(await store.head('replace/a/doc')).toMatchObject({ contentType: 'a/b', metadata: { n: '2' } });
      });

      it('shows a reader the old or the new object, never a mixture', async () => {
        const write = (n: number) =>
          store.replace('replace/mix', Buffer.from(`${n}`), { contentType: 'a/b', metadata: { n: `${n}` } });
        await write(0);
        let isWriting = true;
        const read = async (): Promise<void> => {
          while (isWriting) {
            const reading = await store.read('replace/mix');
            const body = reading && (await buffer(reading.body)).toString();
            expect(body).toBe(reading?.info.metadata.n);
          }
        };
        const reading = Promise.all([read(), read(), read()]);
        for (let n = 1; n <= 30; n += 1) await write(n);
        isWriting = false;
        await reading;
      });
    });

    describe('list', () => {
      const ordered = [
        'a',
        'a!b',
        'a-b',
        'a.b',
        'a/b',
        'a/b-c',
        'a/b/c',
        'a/c',
        'a0',
        'b',
        '\uffee',
        '\u{1f3a7}',
      ]
        .filter((name) => name !== 'a' && name !== 'a/b')
        .map((name) => `list/order/${name}`);

      it('goes in the order of the bytes of whole keys', async () => {
        for (const key of ordered.toReversed()) await put(key);
        expect(await keysBelow('list/order/')).toEqual(ordered);
      });

      it('starts after any key, there or not', async () => {
        for (const key of ordered) await put(key);
        for (const [index, key] of ordered.entries())
          expect(await keysBelow('list/order/', key)).toEqual(ordered.slice(index + 1));
        expect(await keysBelow('list/order/', 'list/order/a/b0')).toEqual(
          ordered.filter((key) => Buffer.compare(Buffer.from(key), Buffer.from('list/order/a/b0')) > 0),
        );
        expect(await keysBelow('list/order/', 'list')).toEqual(ordered);
        expect(await keysBelow('list/order/', 'z')).toEqual([]);
      });

      it('ends at a limit', async () => {
        for (const key of ordered) await put(key);
        for (let limit = 1; limit <= ordered.length + 1; limit += 1) {
          expect(await keysBelow('list/order/', '', limit)).toEqual(ordered.slice(0, limit));
          expect(await keysBelow('list/order/', ordered[2], limit)).toEqual(ordered.slice(3, 3 + limit));
        }
      });

      it('takes the beginning of a name as prefix', async () => {
        for (const key of ordered) await put(key);
        expect(await keysBelow('list/order/a')).toEqual(
          ordered.filter((key) => key.startsWith('list/order/a')),
        );
        expect(await keysBelow('list/order/a/b')).toEqual(['list/order/a/b-c', 'list/order/a/b/c']);
        expect(await keysBelow('list/none')).toEqual([]);
      });

      it('leaves out sub-folders where only what is in the folder itself is asked for', async () => {
        for (const key of ordered) await put(key);
        const direct = (prefix: string, options: ListRange = {}) =>
          Array.fromAsync(store.keys(prefix, { ...options, direct: true }));
        const own = ordered.filter((key) => key.split('/').length === 3);
        expect(own.length).toBeLessThan(ordered.length - 2);
        expect(await direct('list/order/')).toEqual(own);
        expect(await direct('list/order/a')).toEqual(own.filter((key) => key.startsWith('list/order/a')));
        expect(await direct('list/order/', { limit: 4 })).toEqual(own.slice(0, 4));
        expect(await direct('list/order/', { startAfter: own[1] ?? '' })).toEqual(own.slice(2));
        expect(await direct('list/order/a/')).toEqual(['list/order/a/b-c', 'list/order/a/c']);
      });

      it('has the same keys in any order', async () => {
        for (const key of ordered) await put(key);
        const keys = await Array.fromAsync(store.keys('list/order/', { anyOrder: true }));
        expect(keys.toSorted()).toEqual(ordered.toSorted());
      });

      it('follows all pages', async () => {
        const keys = Array.from({ length: listed }, (_, n) => `list/pages/${String(n).padStart(5, '0')}`);
        for (let from = 0; from < keys.length; from += 40)
          await Promise.all(keys.slice(from, from + 40).map((key) => put(key, 'x')));
        expect(await keysBelow('list/pages/')).toEqual(keys);
        const half = Math.floor(listed / 2);
        expect(await keysBelow('list/pages/', keys[half - 1])).toEqual(keys.slice(half));
      }, 120_000);

      it('ends when its signal aborts, with the reason', async () => {
        for (const key of ordered) await put(key);
        const ending = new AbortController();
        const keys: string[] = [];
        const listing = async () => {
          for await (const { key } of store.list('list/order/', { signal: ending.signal })) {
            keys.push(key);
            if (keys.length === 2) ending.abort(new Error('nobody waits any more'));
          }
        };
        // An answer of S3 that is here already may be listed to its end.
        await listing().catch((error: unknown) => expect(error).toEqual(new Error('nobody waits any more')));
        const late = store.list('list/order/', { signal: ending.signal })[Symbol.asyncIterator]();
        await expect(late.next()).rejects.toThrow('nobody waits any more');
      });

      it('tells size and time of each object', async () => {
        await put('list/info/one', '12345');
        for await (const object of store.list('list/info/')) {
          expect(object).toMatchObject({ key: 'list/info/one', size: 5 });
          expect(Number.isNaN(object.modifiedAt.getTime())).toBe(false);
        }
      });

      it('refuses a prefix that climbs', async () => {
        await expect(keysBelow('a/../')).rejects.toThrow(StoreError);
        await expect(foldersBelow('a/../')).rejects.toThrow(StoreError);
      });
    });

    describe('folders', () => {
      it('are the immediate ones, in order, without objects beside them', async () => {
        for (const key of ['b/1', 'a-b/1', 'a/1', 'a/2/3', 'file', 'ü +/1']) await put(`folders/${key}`);
        expect(await foldersBelow('folders/')).toEqual(
          ['a-b/', 'a/', 'b/', 'ü +/'].map((folder) => `folders/${folder}`),
        );
        expect(await foldersBelow('folders/b/')).toEqual([]);
        expect(await foldersBelow('folders/none/')).toEqual([]);
      });

      it('are found at the top, where nothing of the store itself shows', async () => {
        await put('top/object');
        const upload = await store.startUpload('top/pending', TEXT);
        await upload.write(Buffer.from('x'));
        const found = await foldersBelow('');
        expect(found).toContain('top/');
        expect(found.filter((folder) => folder.startsWith('.'))).toEqual([]);
        expect((await keysBelow('')).filter((key) => key.startsWith('.'))).toEqual([]);
        expect(await keysBelow('top/')).toEqual(['top/object']);
        await upload.abort();
      });

      it('are hidden with what is in them when they begin with a dot, unless asked for', async () => {
        await put('.canary/one');
        expect(await text('.canary/one')).toBe('.canary/one');
        expect(await keysBelow('')).not.toContain('.canary/one');
        expect(await foldersBelow('')).not.toContain('.canary/');
        expect(await keysBelow('.canary/')).toEqual(['.canary/one']);
      });
    });

    describe('delete', () => {
      it('removes an object and its folders from sight', async () => {
        await put('delete/a/b/c');
        await store.delete('delete/a/b/c');
        expect(await store.head('delete/a/b/c')).toBeNull();
        expect(await foldersBelow('delete/')).toEqual([]);
        expect(await put('delete/a/b/c', 'again')).toBe('created');
        expect(await text('delete/a/b/c')).toBe('again');
      });

      it('does not mind a missing object', async () => {
        await put('delete/object');
        await store.delete('delete/none');
        await store.delete('delete/object/none');
        expect(await text('delete/object')).toBe('delete/object');
      });

      it('does not disturb creators in the same folder', async () => {
        const createAndDelete = async (name: string): Promise<void> => {
          for (let n = 0; n < 30; n += 1) {
            const key = `delete/busy/folder/${name}-${n}`;
            expect(await put(key)).toBe('created');
            expect(await store.head(key)).toMatchObject(TEXT);
            await store.delete(key);
          }
        };
        await Promise.all(['a', 'b', 'c', 'd'].map(createAndDelete));
        expect(await keysBelow('delete/busy/')).toEqual([]);
      });
    });

    describe('an upload in parts', () => {
      it('joins the parts in call order although they overlap', async () => {
        const parts = [randomBytes(part), randomBytes(part), randomBytes(1_234)];
        const upload = await store.startUpload('upload/joined', TEXT);
        await Promise.all(parts.map((bytes) => upload.write(bytes)));
        expect(await store.head('upload/joined')).toBeNull();
        expect(await upload.complete()).toBe('created');
        const reading = await store.read('upload/joined');
        expect(reading?.info).toMatchObject({ ...TEXT, size: 2 * part + 1_234 });
        expect(reading && (await buffer(reading.body)).equals(Buffer.concat(parts))).toBe(true);
      });

      it('may consist of one small part, or of none', async () => {
        const small = await store.startUpload('upload/small', TEXT);
        await small.write(Buffer.from('small'));
        expect(await small.complete()).toBe('created');
        expect(await text('upload/small')).toBe('small');
        expect(await (await store.startUpload('upload/none', TEXT)).complete()).toBe('created');
        expect(await text('upload/none')).toBe('');
        expect(await store.head('upload/none')).toMatchObject(TEXT);
      });

      it('does not replace an object that is there', async () => {
        const upload = await store.startUpload('upload/taken', TEXT);
        await upload.write(Buffer.from('late'));
        await put('upload/taken', 'early');
        expect(await upload.complete()).toBe('exists');
        expect(await text('upload/taken')).toBe('early');
        expect(await store.head('upload/taken')).toMatchObject(TEXT);
        expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(0);
      });

      it('is completed by exactly one of several uploaders', async () => {
        const uploads = await Promise.all(
          Array.from({ length: 6 }, async (_, n) => {
            const upload = await store.startUpload('upload/race', TEXT);
            await upload.write(Buffer.from(`body ${n}`));
            return upload;
          }),
        );
        const results = await Promise.all(uploads.map((upload) => upload.complete()));
        expect(results.filter((result) => result === 'created')).toHaveLength(1);
        expect(await text('upload/race')).toBe(`body ${results.indexOf('created')}`);
      });

      it('leaves nothing when aborted, also while parts are on their way', async () => {
        const upload = await store.startUpload('upload/aborted', TEXT);
        await upload.write(randomBytes(part));
        const late = upload.write(randomBytes(part)).catch(() => undefined);
        await upload.abort();
        await late;
        await upload.abort();
        expect(await store.head('upload/aborted')).toBeNull();
        expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(0);
        await expect(upload.write(Buffer.from('x'))).rejects.toThrow(StoreError);
        await expect(upload.complete()).rejects.toThrow(StoreError);
      });
    });

    describe('purge', () => {
      const purge = async (folder: string) => {
        const purged = await Array.fromAsync(store.purge(folder));
        return purged.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      };
      const tracesOf = async (folder: string) => {
        const keys = new Set<string>();
        for await (const key of store.traces(folder)) keys.add(key);
        return [...keys].sort();
      };

      it('removes what lies below a folder, and nothing else', async () => {
        const keys = ['purge/j1/a', 'purge/j1/b', 'purge/j1/sub/c'];
        for (const key of [...keys, 'purge/j10/a']) await put(key, 'four');
        expect(await tracesOf('purge/j1/')).toEqual(keys);
        const removed = keys.map((key) => ({ key, size: 4, what: 'object', kept: null }));
        expect(await purge('purge/j1/')).toEqual(removed);
        expect(await keysBelow('purge/')).toEqual(['purge/j10/a']);
        expect(await tracesOf('purge/j1/')).toEqual([]);
        expect(await purge('purge/j1/')).toEqual([]);
        await put('purge/j10/ab');
        expect(await purge('purge/j10/a')).toEqual([{ ...removed[0], key: 'purge/j10/a' }]);
        expect(await keysBelow('purge/')).toEqual(['purge/j10/ab']);
      });

      it('removes one object by its key, and leaves those beside it', async () => {
        for (const key of ['purge/one.json', 'purge/other.json']) await put(key, 'four');
        expect(await purge('purge/one.json')).toMatchObject([{ key: 'purge/one.json', kept: null }]);
        expect(await keysBelow('purge/o')).toEqual(['purge/other.json']);
        expect(await store.head('purge/one.json')).toBeNull();
      });
    });

    describe('abortUploads', () => {
      it('ends the live uploads below a folder, which then cannot be completed', async () => {
        const begin = async (key: string) => {
          const upload = await store.startUpload(key, TEXT);
          await upload.write(randomBytes(part));
          return upload;
        };
        const [ended, other] = await Promise.all([begin('abort/j1/sub/data'), begin('abort/j10/data')]);
        expect(await store.abortUploads('abort/j1/')).toBe(1);
        expect(await store.abortUploads('abort/j1/')).toBe(0);
        await expect(ended.complete()).rejects.toThrow(StoreError);
        expect(await other.complete()).toBe('created');
        expect(await keysBelow('abort/')).toEqual(['abort/j10/data']);
        await ended.abort();
      });
    });

    describe('sweepUploads', () => {
      it('gives up uploads begun before an instant, and only those', async () => {
        const upload = await store.startUpload('sweep/abandoned', TEXT);
        await upload.write(randomBytes(part));
        expect(await store.sweepUploads(new Date(Date.now() - 3_600_000))).toBe(0);
        expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(1);
        expect(await store.sweepUploads(new Date(Date.now() + 3_600_000))).toBe(0);
        await expect(upload.complete()).rejects.toThrow(StoreError);
        expect(await store.head('sweep/abandoned')).toBeNull();
      });
    });

    it('closes twice without complaint', async () => {
      const another = await openStore(place.options);
      await another.close();
      await another.close();
    });
  });
}
