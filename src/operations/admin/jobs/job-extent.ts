import { listJobObjects, readArtefacts } from '../../../archive/artefacts.js';
import { isErased } from '../../../archive/erasure/erasure.js';
import type { QuarantineStore } from '../../../archive/quarantine/quarantine-store.js';
import { type QuarantinedBody, quarantinedBodies } from '../../../archive/quarantine/quarantined-bodies.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { FreshView } from '../../../index/questions/fresh-view.js';
import type { ObjectInfo, ObjectStore } from '../../../store/object-store.js';
import { otherPrefixesOf } from '../../actions/other-prefixes.js';

export interface ExtentParts {
  readonly store: ObjectStore;
  readonly view: Pick<LedgerView, 'deliveries' | 'sourcesOfJob'>;
  readonly keyPrefixes: readonly string[];
  readonly fresh: FreshView;
  readonly quarantine: Pick<QuarantineStore, 'request'>;
}

/** How much of a job belongs to the sources of a client. */
export type JobExtent = 'all' | 'some' | 'none';

/** The extent by store and ledger; `none` for a job that is unknown here. The speech service is not asked. */
export async function jobExtent(parts: ExtentParts, jobId: string, scope: SourceScope): Promise<JobExtent> {
  if (scope === null) return (await isKnownHere(parts, jobId)) ? 'all' : 'none';
  const [found, bodies] = await Promise.all([
    readArtefacts(parts.store, parts.keyPrefixes, jobId),
    ownBodies(parts, jobId, scope),
    parts.fresh(),
  ]);
  const sources = await parts.view.sourcesOfJob(jobId);
  const known = [...sourcesOf(found), ...sources, ...sourcesOfBodies(bodies, scope)];
  if (extentWithin(known, scope) !== 'all') return extentWithin(known, scope);
  const far = await readArtefacts(parts.store, await otherPrefixesOf(parts, jobId, scope), jobId);
  return extentWithin([...known, ...sourcesOf(far)], scope);
}

/** Null for an artefact without a source, which could belong to any. */
export function sourcesOf(found: readonly { readonly info: ObjectInfo }[]): (string | null)[] {
  return found.map(({ info }) => info.metadata.source ?? null);
}

/** A quarantined body with its source; undefined if the body is gone or its source was not read. */
export interface OwnBody extends QuarantinedBody {
  readonly source: string | null | undefined;
}

/** The bodies of a job; with their sources only if the client may not see all sources. */
export async function ownBodies(
  { store, quarantine }: Pick<ExtentParts, 'store' | 'quarantine'>,
  jobId: string,
  scope: SourceScope,
): Promise<OwnBody[]> {
  const bodies = await quarantinedBodies(store, jobId);
  if (scope === null) return bodies.map((body) => ({ ...body, source: undefined }));
  return Promise.all(
    bodies.map(async (body) => ({ ...body, source: (await quarantine.request(body.id))?.source })),
  );
}

export function sourcesOfBodies(bodies: readonly OwnBody[], scope: SourceScope): (string | null)[] {
  return scope === null ? [] : bodies.flatMap(({ source }) => (source === undefined ? [] : [source]));
}

export function extentWithin(sources: readonly (string | null)[], scope: SourceScope): JobExtent {
  if (scope === null || (sources.length > 0 && sources.every((source) => isInScope(scope, source))))
    return 'all';
  return sources.some((source) => isInScope(scope, source)) ? 'some' : 'none';
}

/** Whether the job was erased, or has artefacts, quarantined bodies or lines in the index. */
async function isKnownHere(parts: ExtentParts, jobId: string): Promise<boolean> {
  for await (const _object of listJobObjects(parts.store, parts.keyPrefixes, jobId)) return true;
  if (await isErased(parts.store, jobId)) return true;
  await parts.fresh();
  const { deliveries } = await parts.view.deliveries({ job: jobId, limit: 1 });
  return deliveries.length > 0 || (await quarantinedBodies(parts.store, jobId)).length > 0;
}
