import { type ObjectStore, StoreError } from '../object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../read-document.js';

/** In a dot-folder, which a listing of everything omits. */
const COPY_MARK = '.store/copy.json';
const SERVED_MARK = '.store/served.json';

/** Marks a store as a copy of another one. */
interface CopyMark {
  readonly from: { readonly location: string; readonly id: string | null };
  /** ISO 8601: start of the last run. */
  readonly startedAt: string;
  /** ISO 8601: when the last run had copied everything; null before. */
  readonly finishedAt: string | null;
}

/** The store is an incomplete copy of another one. It must not be written to: the next run of the copy would remove the writes. */
export class UnfinishedCopyError extends StoreError {
  constructor(location: string, { from, startedAt }: CopyMark) {
    super(
      'open',
      `${location} is an unfinished copy of ${from.location} (begun ${startedAt}): run copy-store again until it ends with 0, then it is used without a restart`,
    );
    this.name = 'UnfinishedCopyError';
  }
}

/** The mark of a copy; null for a store that is no copy. Throws `StoreError`. */
export async function readCopyMark(store: Pick<ObjectStore, 'read'>): Promise<CopyMark | null> {
  return (await readDocument(store, COPY_MARK)) as CopyMark | null;
}

export async function writeCopyMark(store: Pick<ObjectStore, 'replace'>, mark: CopyMark): Promise<void> {
  await store.replace(COPY_MARK, Buffer.from(JSON.stringify({ v: 1, ...mark })), DOCUMENT_HEADERS);
}

/** Throws `UnfinishedCopyError` for an unfinished copy, which must not be written to, and `StoreError`. Resolves to the mark. */
export async function assertFinished(
  store: Pick<ObjectStore, 'location' | 'read'>,
): Promise<CopyMark | null> {
  const mark = await readCopyMark(store);
  if (mark?.finishedAt === null) throw new UnfinishedCopyError(store.location, mark);
  return mark;
}

/**
 * Call it before anything is written to a store. From then on a copy counts as served, and `copy-store` no longer changes it. Throws
 * `UnfinishedCopyError`, and `StoreError`.
 */
export async function markCopyServed(
  store: Pick<ObjectStore, 'location' | 'read' | 'create'>,
): Promise<void> {
  if ((await assertFinished(store)) === null) return;
  const served = Buffer.from(JSON.stringify({ at: new Date().toISOString() }));
  await store.create(SERVED_MARK, served, DOCUMENT_HEADERS);
}

/** Whether a copy has been written to by anything but `copy-store`. Throws `StoreError`. */
export async function isServed(store: Pick<ObjectStore, 'head'>): Promise<boolean> {
  return (await store.head(SERVED_MARK)) !== null;
}
