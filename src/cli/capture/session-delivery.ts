import type { Archive, StagedDelivery } from '../../archive/archive.js';
import type { ArtefactContext } from '../../archive/artefact-headers.js';
import type { LedgerLine } from '../../domain/delivery.js';
import { outcomeOf } from '../../domain/delivery.js';
import type { IncomingItem, StoredItem } from '../../domain/item.js';
import type { ItemKind } from '../../domain/kinds.js';
import { ledgerLine, NO_REQUEST } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import { StoreError } from '../../store/object-store.js';

/** The session of the artefacts, and their place in the store. */
export type SessionContext = Omit<ArtefactContext, 'status' | 'context'>;

/** The recording of a session whose audio is archived. */
export interface Recording {
  readonly fileName: string | null;
}

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

export interface DeliveryParts {
  readonly archive: Archive;
  readonly ledger: Ledger;
}

/** Stores a session's transcripts, all or none. Null when its job was erased. */
async function storeTranscripts(
  parts: DeliveryParts,
  context: SessionContext,
  files: readonly CapturedFile[],
  status: SessionEnding['status'],
): Promise<StoredItem[] | null> {
  const staged = parts.archive.begin({ ...context, status, context: null });
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
  parts: DeliveryParts,
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
  await parts.ledger.append(line);
  return line;
}

interface KeptAudio {
  readonly staged: StagedDelivery;
  readonly item: IncomingItem;
}

/** One session that is being archived. */
export class SessionDelivery {
  readonly #parts: DeliveryParts;
  readonly #context: SessionContext;
  #audio: KeptAudio | null = null;
  /** True when audio could not be archived. */
  audioLost = false;

  /** @param recording null: the audio is not archived */
  constructor(parts: DeliveryParts, context: SessionContext, recording: Recording | null) {
    this.#parts = parts;
    this.#context = context;
    if (recording === null) return;
    // A separate delivery: transcripts must neither wait for gigabytes of audio nor be lost with them.
    const staged = parts.archive.begin({ ...context, status: null, context: null });
    const identify = () => ({ kind: 'data' as const, contentType: 'application/octet-stream' });
    const { fileName } = recording;
    this.#audio = { staged, item: staged.open({ identify, ...(fileName === null ? {} : { fileName }) }) };
  }

  /** Archives audio. When the store fails, the audio is discarded and the session goes on. */
  async keepAudio(chunk: Buffer): Promise<void> {
    await this.#withAudio(async (audio) => audio.item.write(chunk));
  }

  /**
   * Commits all artefacts and writes the ledger line. Transcripts are committed first; throws `StoreError` when they cannot be
   * stored.
   */
  async finish(files: readonly CapturedFile[], end: SessionEnding): Promise<LedgerLine> {
    const items = await storeTranscripts(this.#parts, this.#context, files, end.status);
    if (items === null) {
      await this.discard();
      return recordSession(this.#parts, this.#context, [], { ...end, reason: 'erased' });
    }
    await this.#withAudio(async ({ staged, item }) => {
      await item.end();
      items.push(...((await staged.commit()) ?? []));
    });
    return recordSession(this.#parts, this.#context, items, end);
  }

  /** Discards uncommitted artefacts. Does nothing after `finish`; never throws. */
  async discard(): Promise<void> {
    await this.#audio?.staged.discard();
  }

  async #withAudio(work: (audio: KeptAudio) => Promise<unknown>): Promise<void> {
    const audio = this.#audio;
    if (audio === null) return;
    try {
      await work(audio);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#audio = null;
      this.audioLost = true;
      await audio.staged.discard();
    }
  }
}
