import type { CreateResult, ObjectStore, PendingUpload } from '../object-store.js';
import { StoreError } from '../object-store.js';
import { conditionOf } from '../store-condition.js';
import type { StoreCondition } from '../store-remedies.js';

/** `exists`: a conditional write found an object. `absent`: a read found none. */
type StoreCallResult = 'ok' | 'exists' | 'absent' | 'error' | 'timeout';

/**
 * Called when a call has ended; `durationMs` includes the store's own retries. `condition` is the condition of the whole store that a
 * failure shows, `key` the object or prefix of the call.
 */
export type OnStoreCall = (
  operation: string,
  result: StoreCallResult,
  durationMs: number,
  condition: StoreCondition | null,
  key: string,
) => void;

/**
 * Reports every call of a store when it ends. A listing counts once, with the time that the store took, without that of
 * its reader. For a read only the opening counts.
 *
 * @param watchers listeners for every call; more may be added later
 */
export function measureStore(store: ObjectStore, watchers: readonly OnStoreCall[]): ObjectStore {
  const onCall: OnStoreCall = (...call) => {
    for (const watcher of watchers) watcher(...call);
  };

  function timed<Args extends unknown[], T>(
    operation: string,
    run: (...args: Args) => Promise<T>,
    resultOf: (value: T) => StoreCallResult = () => 'ok',
    keyOf: (args: Args) => string = keyIn,
  ): (...args: Args) => Promise<T> {
    return async (...args) => {
      const started = performance.now();
      let result: StoreCallResult = 'ok';
      let condition: StoreCondition | null = null;
      try {
        const value = await run(...args);
        result = resultOf(value);
        return value;
      } catch (error) {
        result = resultOfError(error);
        condition = conditionOf(error);
        throw error;
      } finally {
        onCall(operation, result, performance.now() - started, condition, keyOf(args));
      }
    };
  }

  async function* timedListing<T>(
    operation: string,
    prefix: string,
    source: AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]();
    let spent = 0;
    let result: StoreCallResult = 'ok';
    let condition: StoreCondition | null = null;
    try {
      for (;;) {
        const started = performance.now();
        const next = await iterator.next().finally(() => {
          spent += performance.now() - started;
        });
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      result = resultOfError(error);
      condition = conditionOf(error);
      throw error;
    } finally {
      onCall(operation, result, spent, condition, prefix);
      await iterator.return?.();
    }
  }

  function measureUpload(key: string, upload: PendingUpload): PendingUpload {
    const ofKey = () => key;
    return {
      write: timed('writePart', (part: Buffer) => upload.write(part), undefined, ofKey),
      complete: timed('complete', () => upload.complete(), resultOfCreate, ofKey),
      abort: timed('abort', () => upload.abort(), undefined, ofKey),
    };
  }

  const startUpload = timed('startUpload', store.startUpload);
  return {
    // Not reported: `identity`, `begin`, `traits`, and members that make no call.
    ...store,
    create: timed('create', store.create, resultOfCreate),
    prove: timed('prove', store.prove, resultOfCreate),
    replace: timed('replace', store.replace),
    copy: timed('copy', store.copy, (result) => (result === 'changed' ? 'exists' : 'ok')),
    startUpload: async (key, headers) => measureUpload(key, await startUpload(key, headers)),
    head: timed('head', store.head, resultOfRead),
    read: timed('read', store.read, resultOfRead),
    list: (prefix, options) => timedListing('list', prefix, store.list(prefix, options)),
    keys: (prefix, options) => timedListing('list', prefix, store.keys(prefix, options)),
    folders: (prefix) => timedListing('folders', prefix, store.folders(prefix)),
    delete: timed('delete', store.delete),
    purge: (folder) => timedListing('purge', folder, store.purge(folder)),
    abortUploads: timed('abortUploads', store.abortUploads),
    traces: (folder) => timedListing('traces', folder, store.traces(folder)),
    sweepUploads: timed('sweepUploads', store.sweepUploads),
    ...(store.tags && { tags: timed('tags', store.tags, resultOfRead) }),
    ...(store.expire && {
      expire: timed('expire', store.expire, (result) => (result === 'missing' ? 'absent' : 'ok')),
    }),
  };
}

/** The key among the arguments of a call: mostly the first one; for a copy that of the target, after the source. */
function keyIn(args: readonly unknown[]): string {
  return args.find((each) => typeof each === 'string') ?? '';
}

function resultOfCreate(result: CreateResult): StoreCallResult {
  return result === 'exists' ? 'exists' : 'ok';
}

function resultOfRead(found: unknown): StoreCallResult {
  return found === null ? 'absent' : 'ok';
}

/** The network, the connection pool, the SDK and the server each have codes for a time-out. */
function resultOfError(error: unknown): StoreCallResult {
  const cause = error instanceof StoreError ? error.cause : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /timed?_?out/i.test(code) ? 'timeout' : 'error';
}
