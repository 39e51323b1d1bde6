import { Readable } from 'node:stream';
import type {
  CreateResult,
  ObjectHeaders,
  ObjectInfo,
  ObjectStore,
  PendingUpload,
  PurgedObject,
} from '../../../src/store/object-store.js';

/** The `purge` of a store without versions and uploads, by its own `list` and `delete`. */
async function* purgeByDelete(
  store: Pick<ObjectStore, 'list' | 'delete'>,
  place: string,
): AsyncGenerator<PurgedObject> {
  for await (const { key, size } of store.list(place)) {
    if (!place.endsWith('/') && key !== place) continue;
    await store.delete(key);
    yield { key, size, what: 'object', kept: null };
  }
}

/** Called before each store call takes effect: it may wait or throw. */
export type BeforeCall = (operation: string, key: string) => Promise<void> | void;

interface Stored {
  readonly body: Buffer;
  readonly headers: ObjectHeaders;
  readonly modifiedAt: Date;
}

export interface MemoryStore extends ObjectStore {
  readonly objects: Map<string, Stored>;
  readonly calls: { operation: string; key: string }[];
  /** @param modifiedAt milliseconds since the epoch; default now */
  put(key: string, text: string, modifiedAt?: number): void;
}

/** A stand-in for the network behind a store: objects in a map; every call can be delayed or fail. */
export function createMemoryStore(
  before: BeforeCall = () => undefined,
  clock: () => number = Date.now,
): MemoryStore {
  const objects = new Map<string, Stored>();
  const calls: { operation: string; key: string }[] = [];
  const versions = new WeakMap<Stored, string>();
  let serial = 0;

  function versionOf(stored: Stored): string {
    const version = versions.get(stored) ?? String(++serial);
    versions.set(stored, version);
    return version;
  }
  async function enter(operation: string, key: string): Promise<void> {
    calls.push({ operation, key });
    await before(operation, key);
  }
  function infoOf(key: string, stored: Stored): ObjectInfo {
    return {
      key,
      size: stored.body.length,
      modifiedAt: stored.modifiedAt,
      version: versionOf(stored),
      ...stored.headers,
    };
  }
  function save(key: string, body: Buffer, headers: ObjectHeaders, modifiedAt = clock()): void {
    objects.set(key, { body: Buffer.from(body), headers, modifiedAt: new Date(modifiedAt) });
  }
  function createNow(key: string, body: Buffer, headers: ObjectHeaders): CreateResult {
    if (objects.has(key)) return 'exists';
    save(key, body, headers);
    return 'created';
  }
  function sortedKeys(prefix: string): string[] {
    return [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  return {
    location: 'memory:',
    partSize: 256 * 1024,
    objects,
    calls,
    put: (key, text, modifiedAt) =>
      save(key, Buffer.from(text), { contentType: 'text/plain', metadata: {} }, modifiedAt),
    async create(key, body, headers) {
      await enter('create', key);
      return createNow(key, body, headers);
    },
    async prove(key) {
      await enter('prove', key);
      return 'exists';
    },
    async replace(key, body, headers) {
      await enter('replace', key);
      save(key, body, headers);
    },
    async copy(from, key, headers, over) {
      await enter('copy', key);
      const source = objects.get(from.key);
      const there = objects.get(key);
      const isThere = there === undefined ? over === null : versionOf(there) === over?.version;
      if (source === undefined || versionOf(source) !== from.version || !isThere) return 'changed';
      save(key, source.body, headers);
      return 'copied';
    },
    async startUpload(key, headers): Promise<PendingUpload> {
      await enter('startUpload', key);
      const parts: Buffer[] = [];
      return {
        async write(part) {
          parts.push(Buffer.from(part));
          await enter('write', key);
        },
        async complete() {
          await enter('complete', key);
          return createNow(key, Buffer.concat(parts), headers);
        },
        async abort() {},
      };
    },
    async head(key) {
      await enter('head', key);
      const stored = objects.get(key);
      return stored ? infoOf(key, stored) : null;
    },
    async read(key, range) {
      await enter('read', key);
      const stored = objects.get(key);
      if (!stored) return null;
      const body = range ? stored.body.subarray(range.start, range.end + 1) : stored.body;
      return { info: infoOf(key, stored), body: Readable.from(body.length > 0 ? [body] : []) };
    },
    async *list(prefix, options) {
      await enter('list', prefix);
      let left = options?.limit ?? Number.POSITIVE_INFINITY;
      for (const key of sortedKeys(prefix)) {
        if (options?.startAfter !== undefined && key <= options.startAfter) continue;
        const stored = objects.get(key);
        if (!stored || (options?.direct && key.includes('/', prefix.lastIndexOf('/') + 1))) continue;
        options?.signal?.throwIfAborted();
        yield { key, size: stored.body.length, modifiedAt: stored.modifiedAt };
        left -= 1;
        if (left === 0) return;
      }
    },
    async *keys(prefix, options) {
      for await (const { key } of this.list(prefix, options)) yield key;
    },
    async *folders(prefix) {
      await enter('folders', prefix);
      const rest = sortedKeys(prefix).map((key) => key.slice(prefix.length));
      const names = rest
        .filter((path) => path.includes('/'))
        .map((path) => path.slice(0, path.indexOf('/') + 1));
      for (const name of new Set(names)) yield prefix + name;
    },
    async delete(key) {
      await enter('delete', key);
      objects.delete(key);
    },
    purge(folder) {
      return purgeByDelete(this, folder);
    },
    async *traces(folder) {
      for await (const { key } of this.list(folder)) yield key;
    },
    async abortUploads(folder) {
      await enter('abortUploads', folder);
      return 0;
    },
    async sweepUploads() {
      return 0;
    },
    async identity() {
      await enter('identity', '');
      return 'memory';
    },
    begin: async () => 'memory',
    clockOffset: () => 0,
    async close() {},
  };
}
