import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import type { StoredItem } from '../../domain/item.js';
import type { QuarantineState } from '../../domain/quarantined-body.js';
import { isUlid } from '../../lib/text/id-cursor.js';
import { inGroups } from '../../store/in-groups.js';
import { type NewestOptions, newestStretches } from '../../store/newest-first.js';
import {
  type ListedObject,
  type ObjectInfo,
  type ObjectStore,
  StoreError,
} from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { QUARANTINE_FOLDER, quarantineFolder } from '../layout.js';
import { type QuarantinedRequest, quarantineContent } from './quarantine.js';
import { createQuarantineCount, type QuarantineCount, type QuarantineEntry } from './quarantine-count.js';
import { markQuarantined, quarantinedIds, removeErasedBody } from './quarantined-bodies.js';
import { readRequest } from './read-request.js';
import { markSettled, readSettlement, type Settlement, settledKey } from './settle-bodies.js';

/** The outcome of a release; stored beside the body, which stays, as `released.json`. */
interface ReleaseRecord {
  readonly v: 1;
  readonly deliveryId: string;
  readonly releasedAt: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly outcome: string;
  readonly items: readonly StoredItem[];
}

/** Whose content a quarantined body is. */
type QuarantineOwner = Pick<QuarantinedRequest, 'jobId' | 'source'>;

/** Reads the quarantine of all replicas, and marks bodies as released or settled. */
export interface QuarantineStore {
  /**
   * Oldest first. Bodies whose `request.json` is missing were never acknowledged and are left out, also by the other lists. None
   * holds more than what it is at in memory.
   */
  entries(range?: EntryRange): AsyncIterable<QuarantineEntry>;
  newest(options?: NewestOptions): AsyncIterable<QuarantineEntry>;
  /** The entries of one job, newest first, without reading those of others. */
  newestOf(jobId: string, options?: NewestOptions): AsyncIterable<QuarantineEntry>;
  count: QuarantineCount;
  /** Whether the archive holds what a body should have brought. */
  isStored(request: QuarantinedRequest): Promise<boolean>;
  request(id: string): Promise<QuarantinedRequest | null>;
  /** Key and size of the body; null when it is missing. */
  bodyInfo(id: string): Promise<ObjectInfo | null>;
  /**
   * Passes the whole body to `work`, null when it is missing. Holds one body at a time, of at most `limits.quarantineBytes`,
   * so that operators take no memory that callbacks need.
   */
  withBody<T>(id: string, work: (body: Buffer | null) => Promise<T>): Promise<T>;
  release(id: string): Promise<ReleaseRecord | null>;
  /** Returns the first mark, which stays. An erasure finds it without the body, too. */
  markReleased(id: string, owner: QuarantineOwner, record: ReleaseRecord): Promise<ReleaseRecord>;
  unmarkReleased(id: string): Promise<void>;
  settlement(id: string): Promise<Settlement | null>;
  /** Returns the first mark, which stays; null when the job was erased meanwhile. */
  markSettled(id: string, owner: QuarantineOwner, settlement: Settlement): Promise<Settlement | null>;
  unmarkSettled(id: string): Promise<void>;
  /** The state of one body. */
  stateOf(id: string): Promise<QuarantineState>;
  /** Marks the bodies that are settled because the archive holds what they should have brought, before that expires. */
  markStored(signal?: AbortSignal): Promise<void>;
  /** Removes a body of an erased job with everything that belongs to it. */
  removeErased(id: string, jobId: string): Promise<void>;
}

interface EntryRange {
  /** Only bodies behind this id. */
  readonly after?: string | undefined;
  /** Ends the listing with its reason. */
  readonly signal?: AbortSignal | undefined;
}

const LOOKED_UP_AT_ONCE = 16;
const NAME = /^quarantine\/([^/]+)\/(body|request\.json|released\.json|settled\.json)$/;

/** @param isStored whether the archive holds what a body should have brought. Default: never. */
export function createQuarantineStore(
  store: ObjectStore,
  isStored: (request: QuarantinedRequest) => Promise<boolean> = async () => false,
): QuarantineStore {
  const keyOf = (id: string, name: string) => `${quarantineFolder(id)}${name}`;
  const document = async (id: string, name: string) =>
    isUlid(id) ? await readDocument(store, keyOf(id, name)) : null;
  const release = async (id: string) =>
    (await document(id, 'released.json')) as unknown as ReleaseRecord | null;

  const oneAtATime = pLimit(1);
  const body = async (id: string) => {
    const reading = isUlid(id) ? await store.read(keyOf(id, 'body')) : null;
    if (reading === null) return null;
    return buffer(reading.body).catch((cause: unknown) => {
      throw new StoreError('read', `the quarantined body ${id} could not be read to its end`, { cause });
    });
  };

  const request = async (id: string) => (isUlid(id) ? readRequest(store, id) : null);
  const settlement = async (id: string) => (isUlid(id) ? readSettlement(store, id) : null);
  const isBodyStored = async (id: string) => {
    const known = await request(id);
    return known !== null && (await isStored(known));
  };
  const entries = ({ after = '', signal }: EntryRange = {}) => {
    // Behind everything in the folder of that id.
    const startAfter = after === '' ? QUARANTINE_FOLDER : `${quarantineFolder(after)}~`;
    return entriesOf(store.list(QUARANTINE_FOLDER, { startAfter, signal }));
  };

  async function markIfStored(id: string): Promise<void> {
    const owner = await request(id);
    if (owner === null || !(await isStored(owner))) return;
    const settledAt = new Date().toISOString();
    const by = { by: 'stored', deliveryId: null, actor: null, reason: null } as const;
    await markSettled(store, id, owner, { v: 1, settledAt, ...by });
  }

  return {
    entries,
    async *newest(options) {
      for await (const objects of newestStretches(store, QUARANTINE_FOLDER, options)) {
        const found: QuarantineEntry[] = [];
        for await (const entry of entriesOf(objects)) found.push(entry);
        yield* found.reverse();
      }
    },
    async *newestOf(jobId, { before = '~', signal } = {}) {
      for (const id of (await quarantinedIds(store, jobId, signal)).reverse()) {
        if (!isUlid(id) || id >= before) continue;
        yield* entriesOf(store.list(quarantineFolder(id), { signal }));
      }
    },
    count: createQuarantineCount({ entries, isStored: isBodyStored }),
    isStored,
    request,
    release,
    settlement,
    async stateOf(id) {
      if ((await release(id)) !== null) return 'released';
      return (await settlement(id)) !== null || (await isBodyStored(id)) ? 'settled' : 'waiting';
    },
    bodyInfo: async (id) => (isUlid(id) ? store.head(keyOf(id, 'body')) : null),
    withBody: (id, work) => oneAtATime(async () => work(await body(id))),
    async markReleased(id, { jobId, source }, record) {
      const body = Buffer.from(JSON.stringify(record));
      const headers = {
        contentType: 'application/json',
        metadata: { 'job-id': jobId },
        content: quarantineContent(source),
      };
      // An erasure may have removed it since.
      await markQuarantined(store, jobId, id);
      if ((await store.create(keyOf(id, 'released.json'), body, headers)) === 'created') return record;
      return (await release(id)) ?? record;
    },
    unmarkReleased: (id) => store.delete(keyOf(id, 'released.json')),
    markSettled: (id, owner, mark) => markSettled(store, id, owner, mark),
    unmarkSettled: (id) => store.delete(settledKey(id)),
    async markStored(signal) {
      for await (const group of inGroups(entries({ signal }), LOOKED_UP_AT_ONCE))
        await Promise.all(
          group.map(async ({ id, state }) => state === 'waiting' && (await markIfStored(id))),
        );
    },
    removeErased: (id, jobId) => removeErasedBody(store, id, jobId),
  };
}

/** The bodies of a listing, whose objects come folder by folder. */
async function* entriesOf(
  listed: AsyncIterable<ListedObject> | Iterable<ListedObject>,
): AsyncGenerator<QuarantineEntry> {
  let id = '';
  let bytes = 0;
  let names = new Set<string>();
  const ended = (): QuarantineEntry[] =>
    isUlid(id) && names.has('request.json') ? [{ id, bytes, state: stateBy(names) }] : [];
  for await (const { key, size } of listed) {
    const [, of, name = ''] = NAME.exec(key) ?? [];
    if (of === undefined) continue;
    if (of !== id) {
      yield* ended();
      id = of;
      bytes = 0;
      names = new Set();
    }
    names.add(name);
    if (name === 'body') bytes = size;
  }
  yield* ended();
}

function stateBy(names: ReadonlySet<string>): QuarantineState {
  if (names.has('released.json')) return 'released';
  return names.has('settled.json') ? 'settled' : 'waiting';
}
