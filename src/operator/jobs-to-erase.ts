import pLimit from 'p-limit';
import { listJobObjects, readArtefacts } from '../archive/artefacts.js';
import { isErased } from '../archive/erasure/erasure.js';
import { quarantinedBodies } from '../archive/quarantine/quarantined-bodies.js';
import { type DeliveryContext, hasContextValue } from '../domain/context.js';
import type { LedgerLine } from '../domain/delivery.js';
import type { DeliveryQuery } from '../ledger/read/delivery-query.js';
import type { LedgerView } from '../ledger/read/ledger-view.js';
import type { ObjectStore } from '../store/object-store.js';

export interface JobSearchParts {
  readonly store: ObjectStore;
  /** The prefixes of all sources. */
  readonly keyPrefixes: readonly string[];
  readonly view: Pick<LedgerView, 'deliveries'>;
}

/** What is there of a job. */
export interface JobToErase {
  readonly jobId: string;
  /** Artefacts and conflicts, in their latest version. */
  readonly objects: number;
  readonly bytes: number;
  readonly quarantined: number;
  /** Whether it was erased, is in the ledger, or has anything in the store. */
  readonly isKnown: boolean;
}

export interface FoundJobs {
  readonly jobIds: readonly string[];
  /** Files of the ledger that could not be read, so that jobs may be missing. */
  readonly faults: readonly string[];
}

/** Lines of the ledger that are read at once. */
const PAGE = 500;
const JOBS_AT_ONCE = 16;

/** All jobs of the ledger that have a line with all values of this context. Rejects with `StoreError`. */
export async function jobsOfContext(
  { view }: Pick<JobSearchParts, 'view'>,
  context: DeliveryContext,
): Promise<FoundJobs> {
  const wanted = Object.entries(context);
  const [first] = wanted;
  if (first === undefined) return { jobIds: [], faults: [] };
  const jobIds = new Set<string>();
  const faults = new Set<string>();
  for await (const lines of pages(view, { context: first.join('='), limit: PAGE }, faults)) {
    for (const { jobId, context: held } of lines) {
      if (jobId !== null && wanted.every(([name, value]) => hasContextValue(held, name, value)))
        jobIds.add(jobId);
    }
  }
  return { jobIds: [...jobIds], faults: [...faults] };
}

/** What an erasure of these jobs would concern, in their order. Rejects with `StoreError`. */
export function previewErasure(
  parts: JobSearchParts,
  jobIds: readonly string[],
  onJob: () => void,
): Promise<JobToErase[]> {
  const limit = pLimit(JOBS_AT_ONCE);
  return Promise.all(jobIds.map((jobId) => limit(() => lookAt(parts, jobId).finally(onJob))));
}

async function lookAt(parts: JobSearchParts, jobId: string): Promise<JobToErase> {
  const { store, keyPrefixes } = parts;
  let objects = 0;
  let bytes = 0;
  for await (const { size } of listJobObjects(store, keyPrefixes, jobId)) {
    objects += 1;
    bytes += size;
  }
  const bodies = await quarantinedBodies(store, jobId);
  for (const body of bodies) bytes += body.bytes;
  const isKnown =
    objects + bodies.length > 0 || (await isErased(store, jobId)) || (await isInLedger(parts, jobId));
  return { jobId, objects, bytes, quarantined: bodies.length, isKnown };
}

/** Rejects with `StoreError`. */
export async function isInLedger({ view }: Pick<JobSearchParts, 'view'>, job: string): Promise<boolean> {
  for await (const lines of pages(view, { job, limit: 1 })) if (lines.length > 0) return true;
  return false;
}

/** The sources that have anything of a job, by its artefacts and its latest lines in the ledger. Rejects with `StoreError`. */
export async function sourcesOfJob(
  { store, keyPrefixes, view }: JobSearchParts,
  job: string,
): Promise<string[]> {
  const artefacts = await readArtefacts(store, keyPrefixes, job);
  const sources = new Set(artefacts.flatMap(({ info }) => info.metadata.source ?? []));
  for await (const lines of pages(view, { job, limit: PAGE })) {
    for (const { source } of lines) if (source !== null) sources.add(source);
    if (sources.size > 0) break;
  }
  return [...sources].sort();
}

async function* pages(
  view: JobSearchParts['view'],
  query: DeliveryQuery,
  faults = new Set<string>(),
): AsyncGenerator<readonly LedgerLine[]> {
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await view.deliveries(cursor === undefined ? query : { ...query, cursor });
    for (const fault of page.faults) faults.add(fault);
    yield page.deliveries;
    cursor = page.nextCursor;
  }
}
