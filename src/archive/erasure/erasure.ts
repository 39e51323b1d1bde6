import type { AuditInfo } from '../../ledger/ledger-line.js';
import type { ObjectStore } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { erasureKey } from '../layout.js';

/** The permanent mark of an erased job. */
interface ErasureMark {
  readonly v: 1;
  readonly jobId: string;
  /** ISO 8601: of the first erasure. */
  readonly erasedAt: string;
  /** ISO 8601: when the last erasure had searched everything; null before that. All that it removed was stored earlier. */
  readonly finishedAt: string | null;
  readonly actor: string;
  readonly reason: string | null;
  /** False while some objects may remain. */
  readonly complete: boolean;
  /** ISO 8601: when the remaining objects can be removed; null when that is unknown or nothing remains. */
  readonly keptUntil: string | null;
}

/** When an erasure had searched everything, who ordered it, and why. */
export interface ErasureRecord {
  /** ISO 8601. */
  readonly erasedAt: string;
  readonly actor: string;
  readonly reason: string | null;
}

/** Whether an operator erased the job. Throws `StoreError`. */
export async function isErased(store: ObjectStore, jobId: string): Promise<boolean> {
  return (await store.head(erasureKey(jobId))) !== null;
}

/** Null when the job was not erased. Marks of earlier versions count as complete. Throws `StoreError`. */
export async function readErasure(store: ObjectStore, jobId: string): Promise<ErasureMark | null> {
  const found = await readDocument(store, erasureKey(jobId));
  if (found === null) return null;
  const unknown = { v: 1, jobId, erasedAt: new Date(0).toISOString(), actor: '', reason: null } as const;
  return { ...unknown, complete: true, keptUntil: null, finishedAt: null, ...found } as ErasureMark;
}

/** Writes the mark, and keeps the times of the first erasure and of the last one that was finished. */
export async function markErased(
  store: ObjectStore,
  jobId: string,
  { actor, reason }: AuditInfo,
  rest: Pick<ErasureMark, 'complete' | 'keptUntil' | 'finishedAt'>,
): Promise<void> {
  const before = await readErasure(store, jobId);
  const erasedAt = before?.erasedAt ?? new Date().toISOString();
  const finishedAt = rest.finishedAt ?? before?.finishedAt ?? null;
  const mark: ErasureMark = { v: 1, jobId, erasedAt, actor, reason, ...rest, finishedAt };
  await store.replace(erasureKey(jobId), Buffer.from(JSON.stringify(mark)), DOCUMENT_HEADERS);
}
