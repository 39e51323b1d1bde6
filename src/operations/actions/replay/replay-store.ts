import { REPLAYS_FOLDER, replayKey } from '../../../archive/layout.js';
import type { AuditInfo } from '../../../ledger/ledger-line.js';
import { isUlid } from '../../../lib/text/id-cursor.js';
import { type NewestOptions, newestStretches } from '../../../store/newest-first.js';
import { type ListedObject, type ObjectStore, StoreError } from '../../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../../store/read-document.js';
import { createClaim } from '../../../store/take-over.js';
import { isReplayState, type ReplayFailure, type ReplayState } from './replay-state.js';

/** A replay as the store holds it. */
interface StoredReplay {
  readonly state: ReplayState;
  readonly cancelled: boolean;
}

export interface FailuresPart {
  readonly start: number;
  readonly limit: number;
}

/** Failures of one replay that stay in memory: the dashboard polls the first ones. */
const MAX_KEPT = 1000;

/**
 * The replays of all replicas: the state in `replays/<id>.json`; in `replays/<id>/` the items, one object per claim, the
 * failures in batches, and the mark of a cancellation.
 */
export interface ReplayStore {
  /** Writes the items before the state, so that a state is never without its items. */
  create(state: ReplayState, items: readonly string[]): Promise<void>;
  read(id: string): Promise<StoredReplay | null>;
  items(id: string): Promise<readonly string[]>;
  /** Only for the replica that holds the latest claim. */
  save(state: ReplayState): Promise<void>;
  /** Creates the claim; false when another replica did. */
  claim(id: string, claim: number, owner: string): Promise<boolean>;
  /** Whether a later claim than this one was made. */
  isSuperseded(id: string, claim: number): Promise<boolean>;
  cancel(id: string, audit: AuditInfo): Promise<void>;
  isCancelled(id: string): Promise<boolean>;
  /** Keeps failures beside the state, as a numbered batch of a claim, which counts once a saved state has its number. */
  addFailures(id: string, claim: number, batch: number, entries: readonly ReplayFailure[]): Promise<void>;
  /**
   * The items that failed, each once, in the order in which they did: the list only grows. Reads what holds this part of the list;
   * default all.
   */
  failures(id: string, part?: FailuresPart): Promise<readonly ReplayFailure[]>;
  /** Ids, newest first; no more are read than are asked for. */
  newest(options?: NewestOptions): AsyncIterable<string>;
  /** Ids behind this one, which need not be there, oldest first. */
  behind(id: string): AsyncIterable<string>;
}

interface KnownBatches {
  readonly id: string;
  /** Entries of each batch by its key. */
  readonly sizes: Map<string, number>;
  /** Those of the first batches. */
  readonly kept: Map<string, readonly ReplayFailure[]>;
}

export function createReplayStore(store: ObjectStore): ReplayStore {
  const beside = (id: string, name: string) => `${REPLAYS_FOLDER}${id}/${name}.json`;
  const claimKey = (id: string, claim: number) => beside(id, `claim-${padded(claim)}`);
  const batchKey = (id: string, claim: number, batch: number) =>
    beside(id, `failed-${padded(claim)}-${padded(batch)}`);
  const put = (key: string, value: unknown) => store.create(key, jsonOf(value), DOCUMENT_HEADERS);

  // Batches of the replay that was asked for last. A batch never changes.
  let known: KnownBatches = { id: '', sizes: new Map(), kept: new Map() };
  const entriesOf = async (key: string) =>
    ((await readDocument(store, key))?.entries ?? []) as readonly ReplayFailure[];

  async function readState(id: string): Promise<ReplayState | null> {
    const state = isUlid(id) ? await readDocument(store, replayKey(id)) : null;
    return state !== null && isReplayState(state, id) ? (state as unknown as ReplayState) : null;
  }

  function* batchKeys(id: string, batches: ReplayState['batches']): Generator<string> {
    for (const [claim, count] of Object.entries(batches))
      for (let batch = 1; batch <= count; batch += 1) yield batchKey(id, Number(claim), batch);
  }

  return {
    async create(state, items) {
      await put(beside(state.replayId, 'items'), { items });
      await put(claimKey(state.replayId, state.claim), { owner: state.owner });
      await put(replayKey(state.replayId), state);
    },
    async read(id) {
      const [state, cancelled] = await Promise.all([readState(id), store.head(beside(id, 'cancelled'))]);
      return state && { state, cancelled: cancelled !== null };
    },
    async items(id) {
      const document = await readDocument(store, beside(id, 'items'));
      if (!Array.isArray(document?.items)) throw new StoreError('read', `the items of replay ${id} are gone`);
      return document.items as string[];
    },
    save: async (state) => store.replace(replayKey(state.replayId), jsonOf(state), DOCUMENT_HEADERS),
    claim: (id, claim, owner) => createClaim(store, claimKey(id, claim), owner),
    isSuperseded: async (id, claim) => (await store.head(claimKey(id, claim + 1))) !== null,
    async cancel(id, audit) {
      await put(beside(id, 'cancelled'), { ...audit, at: new Date().toISOString() });
    },
    isCancelled: async (id) => (await store.head(beside(id, 'cancelled'))) !== null,
    async addFailures(id, claim, batch, entries) {
      await store.replace(batchKey(id, claim, batch), jsonOf({ entries }), DOCUMENT_HEADERS);
    },
    async failures(id, { start, limit } = { start: 0, limit: Number.POSITIVE_INFINITY }) {
      const { batches = {} } = (await readState(id)) ?? {};
      if (known.id !== id) known = { id, sizes: new Map(), kept: new Map() };
      const { sizes, kept } = known;
      const failures: ReplayFailure[] = [];
      let place = 0;
      for (const key of batchKeys(id, batches)) {
        if (place >= start + limit) break;
        const size = sizes.get(key);
        if (size === undefined || place + size > start) {
          const entries = kept.get(key) ?? (await entriesOf(key));
          sizes.set(key, entries.length);
          if (place + entries.length <= MAX_KEPT) kept.set(key, entries);
          failures.push(...entries.slice(Math.max(0, start - place), start + limit - place));
        }
        place += sizes.get(key) ?? 0;
      }
      return failures;
    },
    async *newest(options) {
      for await (const objects of newestStretches(store, REPLAYS_FOLDER, options)) {
        yield* objects.flatMap(replayIdOf).reverse();
      }
    },
    async *behind(id) {
      // Behind everything in the folder of that replay.
      const startAfter = `${REPLAYS_FOLDER}${id}~`;
      for await (const object of store.list(REPLAYS_FOLDER, { startAfter })) yield* replayIdOf(object);
    },
  };
}

function replayIdOf({ key }: ListedObject): string[] {
  const [, id = ''] = /^replays\/([^/]+)\.json$/.exec(key) ?? [];
  return isUlid(id) ? [id] : [];
}

/** As a name that sorts by number. */
function padded(number: number): string {
  return String(number).padStart(6, '0');
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
