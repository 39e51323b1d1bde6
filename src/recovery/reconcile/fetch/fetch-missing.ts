import type { Archive, StagedDelivery } from '../../../archive/archive.js';
import type { ArtefactContext } from '../../../archive/layout.js';
import type { ItemIdentity, StoredItem } from '../../../domain/item.js';
import { identityOf, isStandIn, KINDS, type RetrievableKind } from '../../../domain/kinds.js';
import { Problem } from '../../../domain/problem.js';
import type { JobsClient } from '../../../speech/batch/jobs-client.js';
import type { Download } from '../../../speech/http/download.js';
import { isPaused, SpeechError } from '../../../speech/speech-error.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { ExpectedItem } from '../expectation.js';
import {
  ErasedError,
  failureReason,
  INTERRUPTED,
  isUnknownJob,
  UnfitContentError,
  VANISHED,
} from '../recovery-errors.js';
import type { RecoveryParts } from '../recovery-parts.js';
import type { RecoveredItem } from '../report/recovery-report.js';
import { contentCheck, foreignType } from './content-check.js';

/** Result for one expected item. */
export interface ItemResult {
  readonly item: ExpectedItem;
  /** The stored artefact, when the item was fetched. */
  readonly stored: StoredItem | null;
  readonly outcome: RecoveredItem['outcome'];
  readonly reason: string | null;
}

/**
 * Fetches items of one job one after the other. The failure of one item does not affect the others. When `signal` or a pause of the
 * region interrupts it after something was stored, the item in flight is `failed` and the rest `missing`, so that the stored items can be
 * reported; before that it rejects with the signal's reason or with `paused`. Rejects with `ErasedError` when the job is erased
 * meanwhile: its stored items are then erased as well.
 */
export async function fetchMissing(
  parts: RecoveryParts,
  client: JobsClient,
  missing: readonly ExpectedItem[],
  contextOf: (item: ExpectedItem) => ArtefactContext,
  signal: AbortSignal | undefined,
): Promise<ItemResult[]> {
  const results: ItemResult[] = [];
  for (const item of missing) {
    try {
      results.push(await fetchOne(parts, client, item, contextOf(item), signal));
    } catch (error) {
      if (error instanceof ErasedError || results.every(({ stored }) => stored === null)) throw error;
      const reason = isPaused(error) ? error.message : INTERRUPTED;
      return [...results, ...cutShort(missing.slice(results.length), reason)];
    }
  }
  return results;
}

/** Rejects only with the signal's reason, with `ErasedError`, or with `paused` when the region must not be asked. */
async function fetchOne(
  { archive, store }: RecoveryParts,
  client: JobsClient,
  item: ExpectedItem,
  context: ArtefactContext,
  signal: AbortSignal | undefined,
): Promise<ItemResult> {
  try {
    const stored = await fetchItem({ client, archive, kind: item.kind, context, signal });
    const reason = stored.key === item.key ? standInNote(item) : await damageNote(store, item, stored);
    return { item, stored, outcome: stored.outcome, reason };
  } catch (error) {
    if (error instanceof ErasedError || isPaused(error)) throw error;
    signal?.throwIfAborted();
    return failedItem(client, item, context.jobId, error, signal);
  }
}

/**
 * The note for an item whose key holds other bytes. If the SHA-256 recorded there is that of the service's bytes, the stored object is
 * damaged, not a different result. Null otherwise, and when the store does not answer.
 */
async function damageNote(store: ObjectStore, { key }: ExpectedItem, { sha256 }: StoredItem) {
  const existing = await store.head(key).catch(() => null);
  if (existing?.metadata.sha256 !== sha256) return null;
  return `${key} is damaged: its bytes do not have the SHA-256 recorded for it`;
}

function cutShort(items: readonly ExpectedItem[], reason: string): ItemResult[] {
  return items.map((item, n) => notFetched(item, n === 0 ? 'failed' : 'missing', n === 0 ? reason : null));
}

export function notFetched(
  item: ExpectedItem,
  outcome: RecoveredItem['outcome'],
  reason: string | null,
): ItemResult {
  return { item, stored: null, outcome, reason };
}

function standInNote({ kind }: ExpectedItem): string | null {
  return isStandIn(kind) ? `${kind} is the job record: the API offers no other` : null;
}

async function failedItem(
  client: JobsClient,
  item: ExpectedItem,
  jobId: string,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<ItemResult> {
  const permanent = await permanentReason(client, item, jobId, error, signal);
  return permanent === null
    ? notFetched(item, 'failed', failureReason(error))
    : notFetched(item, 'unrecoverable', permanent);
}

/** Why the item can never be fetched, or null when a retry may succeed. A 404 alone proves neither. */
async function permanentReason(
  client: JobsClient,
  item: ExpectedItem,
  jobId: string,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  if (!(error instanceof SpeechError)) return null;
  if (error.kind === 'gone') return 'the service no longer keeps the results (410)';
  if (error.kind !== 'not-found') return null;
  const known = await isKnown(client, jobId, signal);
  if (known === false) return VANISHED;
  return known && item.kind === 'data' ? 'the service does not hand out the media of this job' : null;
}

/** Null when the service does not answer. */
async function isKnown(
  client: JobsClient,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<boolean | null> {
  try {
    const { status } = await client.record(jobId, signal);
    return status !== 'deleted' && status !== 'expired';
  } catch (error) {
    signal?.throwIfAborted();
    return isUnknownJob(error) ? false : null;
  }
}

interface ItemFetch {
  readonly client: JobsClient;
  readonly archive: Archive;
  readonly kind: RetrievableKind;
  readonly context: ArtefactContext;
  readonly signal: AbortSignal | undefined;
}

/**
 * Streams one item of a job from the service's API into the archive. Nothing of it is visible before all of it has
 * arrived and passed the content check. Rejects with `SpeechError`, `StoreError`, `Problem`, `UnfitContentError` or
 * `ErasedError`; then nothing was archived.
 */
export async function fetchItem(request: ItemFetch): Promise<StoredItem> {
  const { client, kind, context, signal } = request;
  const receive = () =>
    client.receive(
      context.jobId,
      KINDS[kind].document,
      (download) => archiveDownload(request, download),
      signal,
    );
  try {
    return await receive();
  } catch (error) {
    if (!isRetryable(error) || signal?.aborted) throw error;
    return receive();
  }
}

/**
 * After a lost race the retry finds the winner's bytes: equal ones are identical, others become a conflict. After a download that had
 * to release its memory, the retry queues for memory.
 */
function isRetryable(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'write-race' || error.code === 'overloaded');
}

/**
 * Each item is a delivery of its own to the archive: an item that arrived whole is kept even if the next one fails. An abort ends the
 * download, and with it the copy. The delivery is discarded only after that, because an upload that is still being opened could not be
 * aborted.
 */
async function archiveDownload(request: ItemFetch, download: Download): Promise<StoredItem> {
  const { archive, context, signal } = request;
  const staged = archive.begin(context, { expectedBytes: download.size });
  // A slow download releases its memory at once when callbacks wait for it.
  staged.onRefused((problem) => download.body.destroy(problem));
  try {
    await copyChecked(request, download, staged);
    signal?.throwIfAborted();
    const items = await staged.commit();
    if (items === null) throw new ErasedError();
    const [stored] = items;
    if (stored === undefined) throw new Error('an item was staged and not stored');
    return stored;
  } finally {
    await staged.discard();
  }
}

async function copyChecked(
  { kind, context }: ItemFetch,
  download: Download,
  staged: StagedDelivery,
): Promise<void> {
  const reject = (fault: string | null) => {
    if (fault !== null) throw new UnfitContentError(kind, fault);
  };
  reject(foreignType(kind, download.contentType));
  const check = contentCheck(kind, context.jobId);
  const identity = identityFor(kind, download);
  const item = staged.open({
    identify: () => identity,
    standsIn: isStandIn(kind),
  });
  for await (const chunk of download.body as AsyncIterable<Buffer>) {
    reject(check.push(chunk));
    await item.write(chunk);
  }
  reject(check.finish());
  await item.end();
}

const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/;

function identityFor(kind: RetrievableKind, { contentType }: Download): ItemIdentity {
  return contentType !== null && MEDIA_TYPE.test(contentType)
    ? identityOf(kind, contentType)
    : identityOf(kind);
}
