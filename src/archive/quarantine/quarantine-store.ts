import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import type { StoredItem } from '../../domain/item.js';
import type { QuarantineState } from '../../domain/quarantined-body.js';
import { type ObjectInfo, type ObjectStore, StoreError } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { isUlid } from '../../text/id-cursor.js';
import { QUARANTINE_FOLDER, quarantineFolder } from '../layout.js';
import { type QuarantinedRequest, quarantineContent } from './quarantine.js';
import {
  markQuarantined,
  type QuarantinedBody,
  quarantinedBodies,
  removeErasedBody,
} from './quarantined-bodies.js';
import { readRequest } from './read-request.js';
import { markSettled, readSettlement, type Settlement, settledKey } from './settle-bodies.js';
import { createStoredBodies } from './stored-bodies.js';

/** A quarantined body in a listing. */
export interface QuarantineEntry {
  readonly id: string;
  readonly bytes: number;
  readonly state: QuarantineState;
}

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

/** `checks` of a listing that a page waits for: two requests each, sixteen at once. */
export const CHECKS_PER_PAGE = 200;

/** Reads the quarantine of all replicas, and marks bodies as released or settled. */
export interface QuarantineStore {
  /**
   * Newest first. Bodies whose `request.json` is missing were never acknowledged and are left out. Looks at most `checks`
   * waiting ones up in the archive, by default all; one that was not looked up yet counts as waiting.
   */
  entries(checks?: number): Promise<QuarantineEntry[]>;
  /** The entries of one job, newest first, without reading those of others. */
  entriesOf(jobId: string): Promise<QuarantineEntry[]>;
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
  markStored(): Promise<void>;
  /** Removes a body of an erased job with everything that belongs to it. */
  removeErased(id: string, jobId: string): Promise<void>;
}

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
  const storedBodies = createStoredBodies(isBodyStored);

  return {
    async entries(checks = Number.POSITIVE_INFINITY) {
      const listed = await listEntries(store);
      return withStored(listed, await storedBodies.among(listed, checks));
    },
    async entriesOf(jobId) {
      const listed = (await quarantinedBodies(store, jobId)).flatMap(entryOf).reverse();
      return withStored(listed, await createStoredBodies(isBodyStored).among(listed, listed.length));
    },
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
    async markStored() {
      const listed = await listEntries(store);
      const stored = await createStoredBodies(isBodyStored).among(listed, listed.length);
      for (const { id } of listed.filter(({ id, state }) => state === 'waiting' && stored.has(id))) {
        const owner = await request(id);
        if (owner === null) continue;
        const settledAt = new Date().toISOString();
        const by = { by: 'stored', deliveryId: null, actor: null, reason: null } as const;
        await markSettled(store, id, owner, { v: 1, settledAt, ...by });
      }
    },
    removeErased: (id, jobId) => removeErasedBody(store, id, jobId),
  };
}

function withStored(listed: readonly QuarantineEntry[], stored: ReadonlySet<string>): QuarantineEntry[] {
  return listed.map((entry) =>
    entry.state === 'waiting' && stored.has(entry.id) ? { ...entry, state: 'settled' } : entry,
  );
}

function entryOf({ id, keys, bytes }: QuarantinedBody): QuarantineEntry[] {
  const has = (name: string) => keys.includes(`${quarantineFolder(id)}${name}`);
  if (!isUlid(id) || !has('request.json')) return [];
  return [{ id, bytes, state: stateBy(has) }];
}

function stateBy(has: (name: string) => boolean): QuarantineState {
  if (has('released.json')) return 'released';
  return has('settled.json') ? 'settled' : 'waiting';
}

async function listEntries(store: ObjectStore): Promise<QuarantineEntry[]> {
  const found = new Map<string, { bytes: number; readonly names: Set<string> }>();
  for await (const { key, size } of store.list(QUARANTINE_FOLDER)) {
    const [, id = '', name = ''] = NAME.exec(key) ?? [];
    if (!isUlid(id)) continue;
    const entry = found.get(id) ?? { bytes: 0, names: new Set() };
    found.set(id, entry);
    entry.names.add(name);
    if (name === 'body') entry.bytes = size;
  }
  return [...found]
    .filter(([, { names }]) => names.has('request.json'))
    .map(([id, { bytes, names }]) => ({ id, bytes, state: stateBy((name) => names.has(name)) }))
    .reverse();
}
