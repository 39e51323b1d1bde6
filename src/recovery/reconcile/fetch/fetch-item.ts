import type { Archive, StagedDelivery } from '../../../archive/archive.js';
import type { ArtefactContext } from '../../../archive/artefact-headers.js';
import { identityOf } from '../../../archive/content/item-plan.js';
import type { ItemIdentity, StoredItem } from '../../../domain/item.js';
import { isStandIn, KINDS, type RetrievableKind } from '../../../domain/kinds.js';
import { Problem } from '../../../domain/problem.js';
import type { JobsClient } from '../../../speech/batch/jobs-client.js';
import type { Download } from '../../../speech/http/download.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { ErasedError, UnfitContentError } from '../recovery-errors.js';
import { contentCheck, foreignType } from './content-check.js';

export interface ItemFetch {
  readonly client: JobsClient;
  readonly store: ObjectStore;
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
 * After a lost race the second try finds the winner's bytes: equal ones are identical, others become a conflict. A
 * download that had to release its memory queues for memory at its second try.
 */
function isRetryable(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'write-race' || error.code === 'overloaded');
}

/**
 * Each item is a delivery of its own to the archive: an item that arrived whole is kept even if the next one fails. An
 * abort ends the download, and with it the pump. The delivery is discarded only after that: an upload that is still being
 * opened could not be aborted.
 */
async function archiveDownload(request: ItemFetch, download: Download): Promise<StoredItem> {
  const { archive, context, signal } = request;
  const staged = archive.begin(context, { expectedBytes: download.size });
  // A slow download releases its memory at once when callbacks wait for it.
  staged.onRefused((problem) => download.body.destroy(problem));
  try {
    await pump(request, download, staged);
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

async function pump({ kind, context }: ItemFetch, download: Download, staged: StagedDelivery): Promise<void> {
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
