import { buffer } from 'node:stream/consumers';

import { withDeadline } from '../../lib/time/deadline.js';

import type {
  CreateResult,
  ListedObject,
  ListRange,
  ObjectHeaders,
  ObjectInfo,
  ObjectStore,
  PendingUpload,
} from '../object-store.js';

/** The operations that the probe uses. `readText` reads the whole body, so that its deadline covers it. */
export interface BoundedStore {
  create(key: string, body: Buffer, headers: ObjectHeaders): Promise<CreateResult>;
  head(key: string): Promise<ObjectInfo | null>;
  readText(key: string, range?: { start: number; end: number }): Promise<string | null>;
  /** All of it. */
  list(prefix: string, range?: ListRange): Promise<ListedObject[]>;
  folders(prefix: string): Promise<string[]>;
  abortUploads(folder: string): Promise<number>;
  startUpload(key: string, headers: ObjectHeaders): Promise<PendingUpload>;
  delete(key: string): Promise<void>;
  readonly tags?: (key: string) => Promise<Readonly<Record<string, string>> | null>;
}

/** A store whose calls reject when they have not ended in time. */
export function withCallDeadlines(store: ObjectStore, milliseconds: number): BoundedStore {
  function bounded<T>(operation: string, call: Promise<T>): Promise<T> {
    return withDeadline(
      call,
      milliseconds,
      `${operation}: the store did not answer within ${milliseconds} ms`,
    );
  }

  async function readText(key: string, range?: { start: number; end: number }): Promise<string | null> {
    const reading = await store.read(key, range);
    return reading && (await buffer(reading.body)).toString();
  }

  const { tags } = store;
  return {
    ...(tags && { tags: (key: string) => bounded('tags', tags(key)) }),
    create: (key, body, headers) => bounded('create', store.create(key, body, headers)),
    head: (key) => bounded('head', store.head(key)),
    readText: (key, range) => bounded('read', readText(key, range)),
    list: (prefix, range) => bounded('list', collected(store.list(prefix, range))),
    folders: (prefix) => bounded('list', collected(store.folders(prefix))),
    abortUploads: (folder) => bounded('abort', store.abortUploads(folder)),
    delete: (key) => bounded('delete', store.delete(key)),
    async startUpload(key, headers) {
      const upload = await bounded('startUpload', store.startUpload(key, headers));
      return {
        write: (part) => bounded('write', upload.write(part)),
        complete: () => bounded('complete', upload.complete()),
        abort: () => bounded('abort', upload.abort()),
      };
    },
  };
}

/** More than any probe has: a listing without end must not fill the memory. */
const MOST_LISTED = 1_000;

async function collected<T>(listing: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of listing) if (found.push(each) >= MOST_LISTED) break;
  return found;
}
