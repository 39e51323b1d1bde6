import { crc32 } from 'node:zlib';
import { decodeTime, encodeTime } from 'ulid';
import { isUlid } from '../../lib/text/id-cursor.js';
import { ulidMaker } from '../../lib/text/ulid-maker.js';
import { type ObjectStore, PartialListingError, StoreGoneError } from '../../store/object-store.js';
import { readText } from '../../store/read-to-end.js';
import { ERASURE_LOG, ERASURES_FOLDER, erasureKey, LAST_ERASURE } from '../layout.js';
import { isErased } from './erasure.js';

/**
 * Milliseconds for which a replica's list of erased jobs is good. An erasure waits longer than this before its last listing:
 * whatever a replica stored by an older list is visible by then, and is removed.
 */
export const ERASURE_LEASE = 2_000;

/** Before the job id in the key of an entry of the log. */
const ENTRY_ID = '01234567890123456789012345-';

/** Milliseconds after which a list is read again while callbacks come, so that none of them waits for it. */
const REFRESH_AFTER = 1_500;

/** Erasures that run at the same time write their log entries in any order; none takes so long. */
const MAX_OVERLAP = 86_400_000;

const PLAIN = { contentType: 'text/plain', metadata: {} } as const;
const nextUlid = ulidMaker();

/** Makes every replica learn of an erasure, whose mark is written already. */
export async function announceErasure(store: ObjectStore, jobId: string): Promise<void> {
  // Not before the last one, so that a clock that is behind does not hide the entry from the other replicas.
  const id = nextUlid(Math.max(Date.now(), timeOf(await readText(store, LAST_ERASURE))));
  await store.create(`${ERASURE_LOG}${id}-${jobId}`, Buffer.from('{}'), PLAIN);
  await store.replace(LAST_ERASURE, Buffer.from(id), PLAIN);
}

export type ErasedJobs = ReturnType<typeof createErasedJobs>;

/**
 * The erased jobs of all replicas, in memory, so that a callback costs no request. A busy replica reads one small object
 * every `ERASURE_LEASE`, an idle one nothing.
 *
 * @param clocks in milliseconds; at least one of them has to run on while the process is suspended
 */
export function createErasedJobs(
  store: ObjectStore,
  clocks: readonly (() => number)[] = [() => performance.now(), Date.now],
) {
  /** Hashes of job ids, for little memory: a hit is confirmed by the mark, or by the log where the mark was lost. */
  const hashes = new Set<number>();
  /** The id of the last erasure, null when there was none; undefined before the first look. */
  let last: string | null | undefined;
  let lookedAt: readonly number[] = [];
  /** Numbers of the last read that was begun, and of the last one that succeeded. */
  let begun = 0;
  let done = 0;
  let looking: Promise<void> | null = null;

  function age(): number {
    if (done === 0) return Number.POSITIVE_INFINITY;
    let longest = 0;
    for (let n = 0; n < clocks.length; n += 1) {
      longest = Math.max(longest, (clocks[n]?.() ?? 0) - (lookedAt[n] ?? 0));
    }
    return longest;
  }

  async function look(): Promise<void> {
    begun += 1;
    const number = begun;
    const startedAt = clocks.map((clock) => clock());
    const found = await readText(store, LAST_ERASURE);
    if (last === undefined) await readMarks(found === null ? null : await readLog(0));
    else if (found === null && last !== null)
      throw new StoreGoneError(`${LAST_ERASURE} is gone: bring it back`);
    else if (found !== last) await readLog(timeOf(last));
    last = found;
    lookedAt = startedAt;
    done = number;
  }

  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  }

  /** @param newest the job that was erased last: without its mark the listing is not whole */
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

  /** Resolves to the last job of it. Its last key was read before, and shows that the listing is whole. */
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

  /** A read that began after the call is good, however long it took. */
  async function lookAgain(): Promise<void> {
    const called = begun;
    while (age() > ERASURE_LEASE && done <= called) await lookOnce();
  }

  return {
    /**
     * Whether the job is erased, by a list that was read within the last `ERASURE_LEASE`. False after a commit therefore means
     * that the commit was visible before the last listing of any erasure. Rejects with `StoreError`.
     */
    async has(jobId: string): Promise<boolean> {
      const listAge = age();
      if (listAge > ERASURE_LEASE) await lookAgain();
      else if (listAge > REFRESH_AFTER) lookOnce().catch(() => undefined);
      return hashes.has(hashOf(jobId)) && ((await isErased(store, jobId)) || isLogged(jobId));
    },
  };
}

function jobOfEntry(key: string): string {
  return key.slice(ERASURE_LOG.length + ENTRY_ID.length);
}

/** A signed number of 32 bits, which a set keeps without a box. */
function hashOf(jobId: string): number {
  return crc32(jobId) | 0;
}

/** Milliseconds since the epoch; 0 without an id. */
function timeOf(id: string | null): number {
  return id !== null && isUlid(id) ? decodeTime(id) : 0;
}
