import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { COMPACTION_STATE } from '../ledger-keys.js';

/** How far the ledger is compacted. Without it a run looks at every hour. */
export interface CompactionState {
  /** Folder of an hour: all before it are compacted, and the days before its day summed up. Empty: none. */
  readonly before: string;
  /** Folder of the last of them that has lines; null without one. */
  readonly last: string | null;
}

export async function readCompactionState(store: ObjectStore): Promise<CompactionState> {
  const document = await readDocument(store, COMPACTION_STATE);
  const { before, last } = document?.v === 1 ? document : {};
  return {
    before: typeof before === 'string' ? before : '',
    last: typeof last === 'string' ? last : null,
  };
}

/** Processes that run at once write what each of them saw: the last one counts, and none is ahead of the ledger. */
export async function saveCompactionState(store: ObjectStore, state: CompactionState): Promise<void> {
  await store.replace(COMPACTION_STATE, Buffer.from(JSON.stringify({ v: 1, ...state })), DOCUMENT_HEADERS);
}
