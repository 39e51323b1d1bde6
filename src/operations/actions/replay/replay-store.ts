import { REPLAYS_FOLDER, replayKey } from '../../../archive/layout.js';
import type { AuditInfo } from '../../../ledger/ledger-line.js';
import { isUlid } from '../../../lib/text/id-cursor.js';
import { type ObjectStore, StoreError } from '../../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../../store/read-document.js';
import { isReplayState, type ReplayState } from './replay-state.js';

/** A replay as the store holds it. */
interface StoredReplay {
  readonly state: ReplayState;
  readonly cancelled: boolean;
}

export type ReplayStore = ReturnType<typeof createReplayStore>;

/**
 * Storage of the replays of all replicas: the state in `replays/<id>.json`; in `replays/<id>/` the list of items, and the mark of a
 * cancellation.
 */
export function createReplayStore(store: ObjectStore) {
  const beside = (id: string, name: string) => `${REPLAYS_FOLDER}${id}/${name}.json`;
  const put = (key: string, value: unknown) => store.create(key, jsonOf(value), DOCUMENT_HEADERS);

  async function readState(id: string): Promise<ReplayState | null> {
    const state = await readDocument(store, replayKey(id));
    return state !== null && isReplayState(state, id) ? (state as unknown as ReplayState) : null;
  }

  return {
    /** Writes the items before the state, so that a state is never without its items. */
    async create(state: ReplayState, items: readonly string[]): Promise<void> {
      await put(beside(state.replayId, 'items'), { items });
      await put(replayKey(state.replayId), state);
    },
    async read(id: string): Promise<StoredReplay | null> {
      // The id of a request can be any text, and a store rejects invalid keys.
      if (!isUlid(id)) return null;
      const [state, cancelled] = await Promise.all([readState(id), store.head(beside(id, 'cancelled'))]);
      return state && { state, cancelled: cancelled !== null };
    },
    async items(id: string): Promise<readonly string[]> {
      const document = await readDocument(store, beside(id, 'items'));
      if (!Array.isArray(document?.items)) throw new StoreError('read', `the items of replay ${id} are gone`);
      return document.items as string[];
    },
    save: (state: ReplayState) => store.replace(replayKey(state.replayId), jsonOf(state), DOCUMENT_HEADERS),
    async cancel(id: string, audit: AuditInfo): Promise<void> {
      await put(beside(id, 'cancelled'), { ...audit, at: new Date().toISOString() });
    },
    /** The ids from `first` on, oldest first. */
    async *idsFrom(first: string): AsyncIterable<string> {
      for await (const key of store.keys(REPLAYS_FOLDER, {
        startAfter: REPLAYS_FOLDER + first,
        direct: true,
      })) {
        const id = key.slice(REPLAYS_FOLDER.length, -'.json'.length);
        if (isUlid(id)) yield id;
      }
    },
  };
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
