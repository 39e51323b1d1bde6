import pLimit from 'p-limit';
import { listJobObjects, readArtefacts } from '../../../archive/artefacts.js';
import { type ErasureRecord, readErasure } from '../../../archive/erasure/erasure.js';
import { quarantinedBodies } from '../../../archive/quarantine/quarantined-bodies.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { otherPrefixesOf, type PrefixParts } from '../other-prefixes.js';

export interface JobSearchParts extends PrefixParts {
  readonly store: ObjectStore;
}

/** Preview of the erasure of a job. */
export interface JobToErase {
  readonly jobId: string;
  readonly state: 'known' | 'erased' | 'unknown';
  /** Number of artefacts and conflicts, without old versions. */
  readonly objects: number;
  readonly bytes: number;
  /** Quarantined bodies. */
  readonly quarantined: number;
  /** A complete earlier erasure; null while something may be left. */
  readonly erasure: ErasureRecord | null;
  /** A retention or a legal hold by which erased objects are only hidden until a time, null when that is unknown. Null without one. */
  readonly protected: { readonly until: string | null } | null;
}

const JOBS_AT_ONCE = 16;

interface PreviewOptions {
  /** Jobs known to have ledger lines, which the index may not reach. */
  readonly inLedger?: ReadonlySet<string> | undefined;
  /** Called for each job that was checked. */
  readonly onJob?: () => void;
}

/** Previews the erasure of these jobs, in their order. Rejects with `StoreError`. */
export async function previewErasure(
  parts: JobSearchParts,
  jobIds: readonly string[],
  { inLedger, onJob }: PreviewOptions = {},
): Promise<JobToErase[]> {
  const limit = pLimit(JOBS_AT_ONCE);
  // Without Object Lock no object is locked, so the headers need not be read.
  const traits = await parts.store.traits?.();
  const mayBeLocked = traits !== undefined && traits.objectLock !== false;
  const look = async (jobId: string): Promise<JobToErase> => {
    const keyPrefixes = await keyPrefixesOf(parts, jobId);
    const found = await lookAt({ ...parts, keyPrefixes }, jobId, mayBeLocked);
    return found.state === 'unknown' && inLedger?.has(jobId) ? { ...found, state: 'known' } : found;
  };
  return Promise.all(jobIds.map((jobId) => limit(() => look(jobId).finally(onJob))));
}

const NOTHING = { objects: 0, bytes: 0, quarantined: 0, erasure: null, protected: null } as const;

async function lookAt(parts: JobSearchParts, jobId: string, mayBeLocked: boolean): Promise<JobToErase> {
  const { store, keyPrefixes } = parts;
  const keys: string[] = [];
  let bytes = 0;
  for await (const { key, size } of listJobObjects(store, keyPrefixes, jobId)) {
    keys.push(key);
    bytes += size;
  }
  const bodies = await quarantinedBodies(store, jobId);
  for (const body of bodies) bytes += body.bytes;
  if (keys.length + bodies.length === 0) return lookForTraces(parts, jobId);
  const locked = mayBeLocked ? [...keys, ...bodies.flatMap((body) => body.keys)] : [];
  const found = { objects: keys.length, bytes, quarantined: bodies.length };
  return { jobId, state: 'known', ...found, erasure: null, protected: await protectionOf(store, locked) };
}

/** Looks for what remains of a job without visible objects. */
async function lookForTraces(parts: JobSearchParts, jobId: string): Promise<JobToErase> {
  const mark = await readErasure(parts.store, jobId);
  if (mark?.complete) {
    const { actor, reason, finishedAt } = mark;
    const erasure = { erasedAt: finishedAt ?? mark.erasedAt, actor, reason };
    return { ...NOTHING, jobId, state: 'erased', erasure };
  }
  if (mark !== null) {
    // An unfinished erasure does not know what is protected.
    const rest = mark.finishedAt === null ? null : { until: mark.keptUntil };
    return { ...NOTHING, jobId, state: 'known', protected: rest };
  }
  return { ...NOTHING, jobId, state: (await isInLedger(parts, jobId)) ? 'known' : 'unknown' };
}

/** Time until which a retention or a legal hold protects any of the objects. */
async function protectionOf(store: ObjectStore, keys: readonly string[]): Promise<JobToErase['protected']> {
  const limit = pLimit(JOBS_AT_ONCE);
  const heads = await Promise.all(keys.map((key) => limit(() => store.head(key))));
  const ends = heads.flatMap((head) => (head?.lock === undefined ? [] : [head.lock.until]));
  if (ends.length === 0) return null;
  const times = ends.flatMap((end) => end?.getTime() ?? []);
  // A lock without an end makes the end unknown.
  return { until: times.length < ends.length ? null : new Date(Math.max(...times)).toISOString() };
}

/** Rejects with `StoreError`. */
export async function isInLedger({ view }: Pick<JobSearchParts, 'view'>, job: string): Promise<boolean> {
  const { deliveries } = await view.deliveries({ job, limit: 1 });
  return deliveries.length > 0;
}

async function keyPrefixesOf(parts: JobSearchParts, jobId: string): Promise<string[]> {
  return [...parts.keyPrefixes, ...(await otherPrefixesOf(parts, jobId, null))];
}

/** Key prefixes below which a job can have artefacts, and the sources that it belongs to. Rejects with `StoreError`. */
export async function placesOfJob(
  parts: JobSearchParts & { readonly view: Pick<LedgerView, 'sourcesOfJob'> },
  jobId: string,
): Promise<{ readonly keyPrefixes: readonly string[]; readonly sources: readonly string[] }> {
  const keyPrefixes = await keyPrefixesOf(parts, jobId);
  const artefacts = await readArtefacts(parts.store, keyPrefixes, jobId);
  const stored = artefacts.flatMap(({ info }) => info.metadata.source ?? []);
  const sources = new Set([...stored, ...(await parts.view.sourcesOfJob(jobId))]);
  return { keyPrefixes, sources: [...sources].sort() };
}
