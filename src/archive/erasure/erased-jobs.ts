import { crc32 } from 'node:zlib';
import { decodeTime, encodeTime } from 'ulid';
import { isUlid } from '../../lib/text/id-cursor.js';
import { ulidMaker } from '../../lib/text/ulid-maker.js';
import { type ObjectStore, PartialListingError, StoreGoneError } from '../../store/object-store.js';
import { readText } from '../../store/read-to-end.js';
import { ERASURE_LOG, ERASURES_FOLDER, erasureKey, LAST_ERASURE } from '../layout.js';
import { isErased } from './erasure.js';

/**
 * Milliseconds for which a replica's list of erased jobs is valid. An erasure waits longer than this before its last listing, so that
 * everything that a replica stored by an older list is visible by then, and is removed.
 */
export const ERASURE_LEASE = 2_000;

/** The ULID and hyphen before the job id in the key of a log entry; only the length is used. */
const ENTRY_ID = '01234567890123456789012345-';

/** Milliseconds after which callbacks cause a refresh in the background, so that none of them waits for it. */
const REFRESH_AFTER = 1_500;

/** Milliseconds; no erasure takes longer. Concurrent erasures write their log entries in any order. */
const MAX_OVERLAP = 86_400_000;

const PLAIN = { contentType: 'text/plain', metadata: {} } as const;
const nextUlid = ulidMaker();

/** Announces an erasure to all replicas. Its mark must already be written. */
export async function announceErasure(store: ObjectStore, jobId: string): Promise<void> {
  // Not older than the last id, so that a clock that is behind does not hide the entry from the other replicas.
  const id = nextUlid(Math.max(Date.now(), timeOf(await readText(store, LAST_ERASURE))));
  await store.create(`${ERASURE_LOG}${id}-${jobId}`, Buffer.from('{}'), PLAIN);
  await store.replace(LAST_ERASURE, Buffer.from(id), PLAIN);
}

export type ErasedJobs = ReturnType<typeof createErasedJobs>;

/**
 * The erased jobs of all replicas, cached in memory, so that a callback costs no request. A busy replica reads one small object
 * every `ERASURE_LEASE`, an idle one nothing.
 *
 * @param clocks in milliseconds; at least one must continue while the process is suspended
 */
export function createErasedJobs(
  store: ObjectStore,
  clocks: readonly (() => number)[] = [() => performance.now(), Date.now],
) {
  /** Hashes of job ids, to save memory. A hit is confirmed by the mark or, if that was lost, by the log. */
  const hashes = new Set<number>();
  /** Null when there was no erasure; undefined before the first read. */
  let lastErasureId: string | null | undefined;
  let refreshedAt: readonly number[] = [];
  /** Numbers of the last read that began, and of the last one that succeeded. */
  let lastBegun = 0;
  let lastSucceeded = 0;
  let refreshing: Promise<void> | null = null;

  function age(): number {
    if (lastSucceeded === 0) return Number.POSITIVE_INFINITY;
    let longest = 0;
    for (let n = 0; n < clocks.length; n += 1) {
      longest = Math.max(longest, (clocks[n]?.() ?? 0) - (refreshedAt[n] ?? 0));
    }
    return longest;
  }

  async function refresh(): Promise<void> {
    lastBegun += 1;
    const number = lastBegun;
    const startedAt = clocks.map((clock) => clock());
    const found = await readText(store, LAST_ERASURE);
    if (lastErasureId === undefined) await readMarks(found === null ? null : await readLog(0));
    else if (found === null && lastErasureId !== null)
      throw new StoreGoneError(`${LAST_ERASURE} is gone: bring it back`);
    else if (found !== lastErasureId) await readLog(timeOf(lastErasureId));
    lastErasureId = found;
    refreshedAt = startedAt;
    lastSucceeded = number;
  }

  function refreshOnce(): Promise<void> {
    refreshing ??= refresh().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  /** @param newest the job that was erased last; a listing without its mark is not whole */
  async function readMarks(newest: string | null): Promise<void> {
    let isWhole = newest === null;
    for await (const key of store.keys(ERASURES_FOLDER)) {
      const jobId = key.slice(ERASURES_FOLDER.length, -'.json'.length);
      isWhole ||= jobId === newest;
      add(jobId);
    }
    if (!isWhole && newest !== null && (await isErased(store, newest)))
      throw new PartialListingError(ERASURES_FOLDER, erasureKey(newest));
  }

  /** Resolves to the last job of the log. The listing is whole only when it ends with `LAST_ERASURE`. */
  async function readLog(since: number): Promise<string | null> {
    const startAfter = `${ERASURE_LOG}${encodeTime(Math.max(0, since - MAX_OVERLAP), 10)}`;
    let jobId: string | null = null;
    let isWhole = false;
    for await (const key of store.keys(ERASURE_LOG, { startAfter })) {
      isWhole = key === LAST_ERASURE;
      if (isWhole) continue;
      jobId = jobOfEntry(key);
      add(jobId);
    }
    if (!isWhole) throw new PartialListingError(ERASURE_LOG, LAST_ERASURE);
    return jobId;
  }

  async function isLogged(jobId: string): Promise<boolean> {
    for await (const key of store.keys(ERASURE_LOG)) if (jobOfEntry(key) === jobId) return true;
    return false;
  }

  function add(jobId: string): void {
    hashes.add(hashOf(jobId));
  }

  /** Waits for a current list. A read that began after the call counts as current, however long it took. */
  async function refreshIfStale(): Promise<void> {
    const called = lastBegun;
    while (age() > ERASURE_LEASE && lastSucceeded <= called) await refreshOnce();
  }

  return {
    /**
     * Whether the job is erased, by a list that is not older than `ERASURE_LEASE`. Therefore false after a commit means that the commit
     * was visible before the last listing of any erasure. Rejects with `StoreError`.
     */
    async has(jobId: string): Promise<boolean> {
      const listAge = age();
      if (listAge > ERASURE_LEASE) await refreshIfStale();
      else if (listAge > REFRESH_AFTER) refreshOnce().catch(() => undefined);
      return hashes.has(hashOf(jobId)) && ((await isErased(store, jobId)) || isLogged(jobId));
    },
  };
}

function jobOfEntry(key: string): string {
  return key.slice(ERASURE_LOG.length + ENTRY_ID.length);
}

/** A signed 32-bit integer, which a set stores unboxed. */
function hashOf(jobId: string): number {
  return crc32(jobId) | 0;
}

/** Milliseconds since the epoch; 0 for null or an invalid id. */
function timeOf(id: string | null): number {
  return id !== null && isUlid(id) ? decodeTime(id) : 0;
}
