import type { Archive, StagedDelivery } from '../archive/archive.js';
import type { ArtefactContext } from '../archive/artefact-headers.js';
import { commitUnlessErased } from '../archive/erasure.js';
import { identityOf } from '../content/item-identity.js';
import type { ItemIdentity, StoredItem } from '../domain/item.js';
import { Problem } from '../domain/problem.js';
import type { JobDocument, JobsClient } from '../speech/batch/jobs-client.js';
import type { Download } from '../speech/http/download.js';
import type { ObjectStore } from '../store/object-store.js';
import { contentCheck, foreignType } from './content-check.js';
import type { RetrievableKind } from './expectation.js';

/** The service sent something that cannot be what was asked for. */
export class UnfitContentError extends Error {
  constructor(kind: RetrievableKind, fault: string) {
    super(`what the service sent as ${kind} ${fault}; it was not archived`);
    this.name = 'UnfitContentError';
  }
}

/** An operator erased the job meanwhile; nothing of it was left behind. */
export class ErasedError extends Error {
  constructor() {
    super(ERASED);
    this.name = 'ErasedError';
  }
}

/** Said of jobs that an operator erased. */
export const ERASED = 'erased here by an operator, so not fetched again';

export interface ItemOrder {
  readonly client: JobsClient;
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly kind: RetrievableKind;
  readonly context: ArtefactContext;
  readonly signal: AbortSignal | undefined;
}

/** The record is the API's only form of jobinfo, "the configuration used to submit the job". */
const DOCUMENTS: Readonly<Record<RetrievableKind, JobDocument>> = {
  'transcript.json-v2': 'json-v2',
  'transcript.txt': 'txt',
  'transcript.srt': 'srt',
  data: 'media',
  jobinfo: 'record',
};

/**
 * Streams one item of a job from the service's API into the archive; nothing of it is visible before all of
 * it has come and can be what was asked for. Rejects with `SpeechError`, `StoreError`, `Problem`, `UnfitContentError`
 * or `ErasedError`; then nothing was archived.
 */
export async function fetchItem(order: ItemOrder): Promise<StoredItem> {
  const { client, kind, context, signal } = order;
  const receive = () =>
    client.receive(context.jobId, DOCUMENTS[kind], (download) => archiveDownload(order, download), signal);
  try {
    return await receive();
  } catch (error) {
    if (!isWorthAnotherTry(error) || signal?.aborted) throw error;
    return receive();
  }
}

/**
 * After a lost race the winner's bytes lie there: the same ones are identical, others go beside them. A download that
 * had to make room waits in line for memory at its second try.
 */
function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'write-race' || error.code === 'overloaded');
}

/**
 * Each item is a delivery of its own to the archive: what arrived whole is kept, whatever becomes of the rest.
 * An abort ends the download, and with it the pump; the delivery is discarded only then, because an upload
 * that is just being opened could not be found and given up.
 */
async function archiveDownload(order: ItemOrder, download: Download): Promise<StoredItem> {
  const { archive, store, context, signal } = order;
  const staged = archive.begin(context, { expectedBytes: download.size });
  // Memory that a slow download holds is given back at once when callbacks wait for it.
  staged.onRefused((problem) => download.body.destroy(problem));
  try {
    await pump(order, download, staged);
    signal?.throwIfAborted();
    const items = await commitUnlessErased(store, context.jobId, () => staged.commit());
    if (items === null) throw new ErasedError();
    const [stored] = items;
    if (stored === undefined) throw new Error('an item was staged and not stored');
    return stored;
  } finally {
    await staged.discard();
  }
}

async function pump({ kind, context }: ItemOrder, download: Download, staged: StagedDelivery): Promise<void> {
  const refuse = (fault: string | null) => {
    if (fault !== null) throw new UnfitContentError(kind, fault);
  };
  refuse(foreignType(kind, download.contentType));
  const check = contentCheck(kind, context.jobId);
  const identity = identityFor(kind, download);
  const item = staged.open({
    identify: () => identity,
    // The record changes with time: where a jobinfo, or another recovery's record, lies already, it would only differ.
    standsIn: kind === 'jobinfo',
    ...(download.size === null ? {} : { expectedBytes: download.size }),
  });
  for await (const chunk of download.body as AsyncIterable<Buffer>) {
    refuse(check.push(chunk));
    await item.write(chunk);
  }
  refuse(check.finish());
  await item.end();
}

const MEDIA_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/;

function identityFor(kind: RetrievableKind, { contentType }: Download): ItemIdentity {
  return contentType !== null && MEDIA_TYPE.test(contentType)
    ? identityOf(kind, contentType)
    : identityOf(kind);
}
