import { decodeTime } from 'ulid';
import { classOfKey, QUARANTINE_FOLDER, REPLAYS_FOLDER, replayKey } from '../../archive/layout.js';
import type { RetentionClass } from '../../domain/kinds.js';
import { HOUR, startOfHour } from '../../ledger/hours.js';
import { LEDGER_FOLDER, MERGED_FOLDER } from '../../ledger/ledger-keys.js';
import { readAhead } from '../../ledger/read-ahead.js';
import { isUlid } from '../../lib/text/id-cursor.js';
import type { Pause } from '../../lib/time/cooperative-yield.js';
import { type ListedObject, type ObjectStore, StoreError } from '../../store/object-store.js';
import type { ExpiredBefore } from './retention-view.js';

export interface ExpiredObject {
  readonly kind: RetentionClass;
  /** Null for the receiver's own records. */
  readonly jobId: string | null;
  readonly source: string | null;
  readonly found: ListedObject;
}

/** A store whose expired objects the receiver removes. */
export type ExpiringStore = ObjectStore & Required<Pick<ObjectStore, 'expire'>>;

export function isExpiring(store: ObjectStore): store is ExpiringStore {
  return store.expire !== undefined;
}

const LOOKUPS_AT_ONCE = 16;

const JOB_OF_KEY = /(?:^|\/)jobs\/([^/]+)\//;
/** Folders of the ledger in the order of removal: if the merged hour went first, its segments would be merged again. */
export const LEDGER_FOLDERS = [LEDGER_FOLDER, MERGED_FOLDER] as const;

export interface ExpirySearch {
  readonly store: ExpiringStore;
  readonly expiredBefore: ExpiredBefore;
  /** Called with objects that cannot be read; the search continues. */
  readonly onFault: (key: string, reason: string) => void;
  readonly signal?: AbortSignal | undefined;
  readonly pause?: Pause | undefined;
}

/** Finds expired objects outside the ledger. The objects of a job come one after the other. */
export async function* expiredObjects(search: ExpirySearch): AsyncGenerator<ExpiredObject> {
  const { store, expiredBefore, onFault } = search;
  const older = olderObjects(search, '', (key) => timeLimit(key, expiredBefore));
  const examined = readAhead(older, LOOKUPS_AT_ONCE, (found) =>
    examine(store, found, expiredBefore).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      onFault(found.key, error.message);
      return null;
    }),
  );
  for await (const found of examined) if (found !== null) yield found;
}

/**
 * Objects that were last modified before a time; an abort ends the search without an error.
 *
 * @param before the time for a key, in milliseconds since the epoch; null leaves the object out
 */
async function* olderObjects(
  { store, onFault, signal, pause }: ExpirySearch,
  prefix: string,
  before: (key: string) => number | null,
): AsyncGenerator<ListedObject> {
  const onUnreadable = (key: string, error: StoreError) => onFault(key, error.message);
  for await (const found of store.list(prefix, { anyOrder: true, onUnreadable })) {
    await pause?.();
    if (signal?.aborted) return;
    if (found.modifiedAt.getTime() < (before(found.key) ?? Number.NEGATIVE_INFINITY)) yield found;
  }
}

/**
 * Finds expired hours of the ledger, below one of `LEDGER_FOLDERS`.
 *
 * @param unremoved partitions with objects that could not be removed from the folder before: their hours stay
 */
export async function* expiredLedger(
  search: ExpirySearch,
  folder: (typeof LEDGER_FOLDERS)[number],
  unremoved: ReadonlySet<string>,
): AsyncGenerator<ExpiredObject> {
  const limit = search.expiredBefore('ledger');
  // NaN for a key without an hour, which is not ours.
  const before = (key: string) => (startOfHour(key) + HOUR < limit ? Number.POSITIVE_INFINITY : null);
  const isKept = (key: string) =>
    unremoved.has('') || unremoved.has(dayOf(key)) || unremoved.has(partitionOf(key));
  for await (const found of olderObjects(search, folder, before))
    if (folder === LEDGER_FOLDER || !isKept(found.key))
      yield { kind: 'ledger', jobId: null, source: null, found };
}

/** `dt=…/hour=HH/` of a key of the ledger; shorter for a folder of several hours. */
export function partitionOf(key: string): string {
  return key.slice(key.indexOf('/') + 1, key.lastIndexOf('/') + 1);
}

function dayOf(key: string): string {
  const partition = partitionOf(key);
  return partition.slice(0, partition.indexOf('/') + 1);
}

/** The age of a quarantined body is that of its delivery, even if it was released later. */
function timeLimit(key: string, expiredBefore: ExpiredBefore): number | null {
  const kind = classOfKey(key);
  if (kind === null || kind === 'ledger') return null;
  const limit = expiredBefore(kind);
  if (limit === Number.NEGATIVE_INFINITY) return null;
  if (kind !== 'quarantine') return limit;
  const id = key.slice(QUARANTINE_FOLDER.length, key.indexOf('/', QUARANTINE_FOLDER.length));
  return isUlid(id) && decodeTime(id) < limit ? Number.POSITIVE_INFINITY : null;
}

/** Null for an object that has not expired although its file is old enough. */
async function examine(
  store: ObjectStore,
  found: ListedObject,
  expiredBefore: ExpiredBefore,
): Promise<ExpiredObject | null> {
  const kind = classOfKey(found.key);
  if (kind === null) return null;
  const limit = expiredBefore(kind);
  if (kind === 'replays') return (await isReplayOver(store, found.key, limit)) ? record(kind, found) : null;
  if (kind === 'reports') return record(kind, found);
  const info = await store.head(found.key);
  if (info === null) return null;
  const { 'received-at': receivedAt, 'job-id': jobId = null, source = null } = info.metadata;
  // By metadata, because the file of a restored backup can be older than its delivery.
  if (kind !== 'quarantine' && Date.parse(receivedAt ?? '') >= limit) return null;
  return { kind, jobId: JOB_OF_KEY.exec(found.key)?.[1] ?? jobId, source, found };
}

function record(kind: RetentionClass, found: ListedObject): ExpiredObject {
  return { kind, jobId: null, source: null, found };
}

/** The items of a replay stay as long as its state object is still updated. */
async function isReplayOver(store: ObjectStore, key: string, limit: number): Promise<boolean> {
  const id = key.slice(REPLAYS_FOLDER.length).split(/[/.]/)[0] ?? '';
  const state = await store.head(replayKey(id));
  return state === null || state.modifiedAt.getTime() < limit;
}
