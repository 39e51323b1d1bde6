import type { Archive } from '../../archive/archive.js';
import type { ArtefactContext } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { outcomeOf } from '../../domain/delivery.js';
import type { StoredItem } from '../../domain/item.js';
import type { ItemKind } from '../../domain/kinds.js';
import { ledgerLine, NO_REQUEST } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { SessionEnd } from './run-session.js';

/** The session of the artefacts, and their place in the store. */
export type SessionContext = Omit<ArtefactContext, 'status' | 'context'>;

export interface CapturedFile {
  readonly kind: ItemKind;
  readonly contentType: string;
  readonly content: string;
}

/** Stores a session's transcripts, all or none, and writes its ledger line. Throws `StoreError` when they cannot be stored. */
export async function archiveSession(
  archive: Archive,
  ledger: Ledger,
  context: SessionContext,
  files: readonly CapturedFile[],
  { report, reason, finishedAt }: SessionEnd,
): Promise<LedgerLine> {
  const status = reason === null ? 'success' : 'incomplete';
  const stored = await storeTranscripts(archive, { ...context, status, context: null }, files);
  const items = stored ?? [];
  const { deliveryId, receivedAt, origin, source, region, jobId } = context;
  const line = ledgerLine({
    ...NO_REQUEST,
    deliveryId,
    receivedAt,
    origin,
    source,
    region,
    jobId,
    status,
    items,
    reason: stored === null ? 'erased' : reason,
    bytes: report.acknowledged.bytes,
    durationMs: Math.max(0, Date.parse(finishedAt) - Date.parse(receivedAt)),
    outcome: outcomeOf(items),
    actor: null,
    context: null,
  });
  await ledger.append(line);
  return line;
}

/** Null when the job of the session was erased. */
async function storeTranscripts(
  archive: Archive,
  context: ArtefactContext,
  files: readonly CapturedFile[],
): Promise<StoredItem[] | null> {
  const staged = archive.begin(context);
  try {
    for (const { kind, contentType, content } of files) {
      const item = staged.open({ identify: () => ({ kind, contentType }) });
      await item.write(Buffer.from(content));
      await item.end();
    }
    return await staged.commit();
  } finally {
    await staged.discard();
  }
}
