import type { Archive } from '../../archive/archive.js';
import type { ArtefactContext } from '../../archive/layout.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { outcomeOf } from '../../domain/delivery.js';
import type { StoredItem } from '../../domain/item.js';
import type { ItemKind } from '../../domain/kinds.js';
import { ledgerLine, NO_REQUEST } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';

/** The session of the artefacts, and their place in the store. */
export type SessionContext = Omit<ArtefactContext, 'status' | 'context'>;

export interface CapturedFile {
  readonly kind: ItemKind;
  readonly contentType: string;
  readonly content: string;
}

/** The end of a session, for its ledger line. */
export interface SessionEnding {
  readonly status: 'success' | 'incomplete';
  readonly reason: string | null;
  /** ISO 8601. */
  readonly finishedAt: string;
  /** Bytes of audio the service acknowledged. */
  readonly bytes: number;
}

/** Stores a session's transcripts, all or none. Null when its job was erased. */
async function storeTranscripts(
  archive: Archive,
  context: SessionContext,
  files: readonly CapturedFile[],
  status: SessionEnding['status'],
): Promise<StoredItem[] | null> {
  const staged = archive.begin({ ...context, status, context: null });
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

/** Writes the ledger line of a session whose items are stored. */
async function recordSession(
  ledger: Ledger,
  context: SessionContext,
  items: readonly StoredItem[],
  end: SessionEnding,
): Promise<LedgerLine> {
  const { deliveryId, receivedAt, origin, source, region, jobId } = context;
  const { status, reason, finishedAt, bytes } = end;
  const durationMs = Math.max(0, Date.parse(finishedAt) - Date.parse(receivedAt));
  const line = ledgerLine({
    ...NO_REQUEST,
    ...{ deliveryId, receivedAt, origin, source, region, jobId, status, reason, items, bytes, durationMs },
    outcome: outcomeOf(items),
    actor: null,
    context: null,
  });
  await ledger.append(line);
  return line;
}

/** Stores a session's transcripts and writes its ledger line. Throws `StoreError` when they cannot be stored. */
export async function archiveSession(
  archive: Archive,
  ledger: Ledger,
  context: SessionContext,
  files: readonly CapturedFile[],
  end: SessionEnding,
): Promise<LedgerLine> {
  const items = await storeTranscripts(archive, context, files, end.status);
  return items === null
    ? recordSession(ledger, context, [], { ...end, reason: 'erased' })
    : recordSession(ledger, context, items, end);
}
