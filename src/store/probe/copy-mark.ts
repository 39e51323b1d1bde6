import { type ObjectStore, StoreError } from '../object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../read-document.js';

/** Dot-folders are in no listing of everything; this one also holds the id of a store in a bucket. */
const COPY_MARK = '.store/copy.json';
const SERVED_MARK = '.store/served.json';

/** What a store that is a copy of another one says of that. */
interface CopyMark {
  readonly from: { readonly location: string; readonly id: string | null };
  /** ISO 8601: of the last run. */
  readonly startedAt: string;
  /** ISO 8601: when the last run had copied everything; null before. */
  readonly finishedAt: string | null;
}

/** Part of a store is missing that it is a copy of. Nothing may be written to it: the next run of the copy would remove that. */
export class UnfinishedCopyError extends StoreError {
  constructor(location: string, { from, startedAt }: CopyMark) {
    super(
      'open',
      `${location} is an unfinished copy of ${from.location} (begun ${startedAt}): run copy-store again until it ends with 0, then it is used without a restart`,
    );
    this.name = 'UnfinishedCopyError';
  }
}

/** Null for a store that is no copy. Throws `StoreError`. */
export async function readCopyMark(store: Pick<ObjectStore, 'read'>): Promise<CopyMark | null> {
  return (await readDocument(store, COPY_MARK)) as CopyMark | null;
}

export async function writeCopyMark(store: Pick<ObjectStore, 'replace'>, mark: CopyMark): Promise<void> {
  await store.replace(COPY_MARK, Buffer.from(JSON.stringify({ v: 1, ...mark })), DOCUMENT_HEADERS);
}

/** Whether a store may be written to is asked before its proof as well. Throws `UnfinishedCopyError`, and `StoreError`. */
export async function assertFinished(
  store: Pick<ObjectStore, 'location' | 'read'>,
): Promise<CopyMark | null> {
  const mark = await readCopyMark(store);
  if (mark?.finishedAt === null) throw new UnfinishedCopyError(store.location, mark);
  return mark;
}

/**
 * Called before anything is written to a store. A copy counts as served from then on, and no run of `copy-store` changes it any more.
 * Throws `UnfinishedCopyError`, and `StoreError`.
 */
export async function serveCopy(store: Pick<ObjectStore, 'location' | 'read' | 'create'>): Promise<void> {
  if ((await assertFinished(store)) === null) return;
  const served = Buffer.from(JSON.stringify({ at: new Date().toISOString() }));
  await store.create(SERVED_MARK, served, DOCUMENT_HEADERS);
}

/** Whether something else than a copy has written to a store that is a copy. Throws `StoreError`. */
export async function isServed(store: Pick<ObjectStore, 'head'>): Promise<boolean> {
  return (await store.head(SERVED_MARK)) !== null;
}
