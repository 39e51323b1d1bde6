import type { Archive, ArtefactContext, StagedDelivery } from '../archive/archive.js';
import { identityOf } from '../archive/item-identity.js';
import { JsonCheck } from '../archive/json-check.js';
import type { ItemIdentity, StoredItem } from '../domain/item.js';
import { Problem } from '../domain/problem.js';
import type { Download } from '../speech/download.js';
import type { JobsClient } from '../speech/jobs-client.js';
import { SpeechError } from '../speech/speech-error.js';
import type { RetrievableKind } from './expectation.js';

/** The service sent something that cannot be what was asked for. */
export class UnfitContentError extends Error {
  constructor(kind: RetrievableKind) {
    super(`what the service sent as ${kind} is not JSON; it was not archived`);
    this.name = 'UnfitContentError';
  }
}

export interface ItemOrder {
  readonly client: JobsClient;
  readonly archive: Archive;
  readonly kind: RetrievableKind;
  readonly context: ArtefactContext;
  readonly signal: AbortSignal | undefined;
}

/** A download that broke off, or an upload that lost a race, is worth one more try at once. */
const ATTEMPTS = 2;

/**
 * Streams one item of a job from the service's API into the archive; nothing of it is visible before all of
 * it has come and, where it should be JSON, parsed. Rejects with `SpeechError`, `StoreError`, `Problem` or
 * `UnfitContentError`; then nothing was archived.
 */
export async function fetchItem(order: ItemOrder): Promise<StoredItem> {
  for (let attempt = 1; ; attempt += 1) {
    const download = await openItem(order);
    try {
      return await archiveDownload(order, download);
    } catch (error) {
      if (order.signal?.aborted || attempt === ATTEMPTS || !worthAnotherTry(error)) throw error;
    } finally {
      download.body.on('error', () => {}).destroy();
    }
  }
}

function openItem({ client, kind, context: { jobId }, signal }: ItemOrder): Promise<Download> {
  switch (kind) {
    case 'transcript.json-v2':
      return client.transcript(jobId, 'json-v2', signal);
    case 'transcript.txt':
      return client.transcript(jobId, 'txt', signal);
    case 'transcript.srt':
      return client.transcript(jobId, 'srt', signal);
    case 'data':
      return client.media(jobId, signal);
    case 'jobinfo':
      // "The configuration used to submit the job": the API tells it in the record only.
      return client.recordDocument(jobId, signal);
  }
}

/**
 * Each item is a delivery of its own to the archive: what arrived whole is kept, whatever becomes of the rest.
 * An abort ends the download, and with it the pump; the delivery is discarded only then, because an upload
 * that is just being opened could not be found and given up.
 */
async function archiveDownload(order: ItemOrder, download: Download): Promise<StoredItem> {
  const staged = order.archive.begin(order.context);
  try {
    await pump(order.kind, download, staged);
    order.signal?.throwIfAborted();
    const [stored] = await staged.commit();
    if (stored === undefined) throw new Error('an item was staged and not stored');
    return stored;
  } finally {
    await staged.discard();
  }
}

async function pump(kind: RetrievableKind, download: Download, staged: StagedDelivery): Promise<void> {
  const identity = identityFor(kind, download);
  const json = identity.contentType === 'application/json' && kind !== 'data' ? new JsonCheck() : null;
  const item = staged.open({
    identify: () => identity,
    ...(download.size === null ? {} : { expectedBytes: download.size }),
  });
  for await (const chunk of download.body as AsyncIterable<Buffer>) {
    if (json?.push(chunk) === false) throw new UnfitContentError(kind);
    await item.write(chunk);
  }
  if (json?.finish() === false) throw new UnfitContentError(kind);
  await item.end();
}

const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/;

function identityFor(kind: RetrievableKind, { contentType }: Download): ItemIdentity {
  return contentType !== null && MEDIA_TYPE.test(contentType)
    ? identityOf(kind, contentType)
    : identityOf(kind);
}

function worthAnotherTry(error: unknown): boolean {
  if (error instanceof SpeechError) return ['truncated', 'network', 'timeout'].includes(error.kind);
  return error instanceof Problem && error.code === 'write-race';
}
