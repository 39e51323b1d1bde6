import { claimConflict } from '../../archive/claim-conflict.js';
import {
  type ArtefactPlace,
  artefactOfVersion,
  findConflict,
} from '../../archive/erasure/artefact-versions.js';
import { readErasure } from '../../archive/erasure/erasure.js';
import { purgeArtefacts } from '../../archive/erasure/purge-artefacts.js';
import { conflictKey, jobFolder, kindOfPath } from '../../archive/layout.js';
import { readBack } from '../../archive/read-back.js';
import { REPLACED, versionMetadata } from '../../domain/artefact-metadata.js';
import { type DeliveryContext, metadataName } from '../../domain/context.js';
import type { LedgerItem, LedgerLine } from '../../domain/delivery.js';
import { retentionClassOf } from '../../domain/kinds.js';
import { Problem } from '../../domain/problem.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { FreshView } from '../../index/questions/fresh-view.js';
import { newDeliveryId, operatorLine } from '../../ledger/ledger-line.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import { isKey } from '../../store/object-key.js';
import type { ObjectHeaders, ObjectInfo, ObjectStore } from '../../store/object-store.js';
import { claimChoice } from './claim-choice.js';
import { otherPrefixesOf, type PrefixParts } from './other-prefixes.js';

export interface ChooseParts extends PrefixParts {
  readonly store: ObjectStore;
  /** Brings the index up to date with the ledger. */
  readonly fresh: FreshView;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly sources: ReadonlyMap<string, { readonly context: readonly string[] }>;
}

export interface Choice {
  /** Key of the version that should count: the artefact itself, or one of its conflicts. */
  readonly key: string;
  readonly actor: string;
  readonly reason: string;
  /** Sources of the client. */
  readonly scope: SourceScope;
}

/** A version and the hash of its bytes. */
interface Version {
  readonly info: ObjectInfo;
  readonly sha256: string;
}

/**
 * Makes one version of an artefact the one that counts. The only act that changes an artefact: its bytes are first copied to the
 * conflicts, then replaced on condition that they have not changed since. Repeated after a failure at any step it continues; both versions
 * stay. Returns the ledger line.
 *
 * Rejects with `not-found` for a key without an object, and with `conflict` for an erased job, while another operator chooses, and
 * when the artefact changed meanwhile.
 */
export async function chooseArtefact(
  parts: ChooseParts,
  jobId: string,
  { key, actor, reason, scope }: Choice,
): Promise<LedgerLine> {
  const { store } = parts;
  const started = performance.now();
  const deliveryId = newDeliveryId();
  const place = await placeIn(parts, jobId, key, scope);
  await rejectErased(store, jobId);
  const claim = await claimChoice(store, place, key);
  try {
    const [counting, chosen] = await Promise.all([
      versionAt(store, place.folder + place.path),
      versionAt(store, key),
    ]);
    for (const { info } of [counting, chosen])
      if (!isInScope(scope, info.metadata.source)) throw unknownVersion();
    const kept = await replace(parts, place, counting, chosen);
    await removeIfErased(parts, place, jobId);
    const { metadata, size } = chosen.info;
    const kind = kindOfPath(place.path);
    const items: LedgerItem[] = [
      {
        kind,
        key: counting.info.key,
        size,
        sha256: chosen.sha256,
        outcome: kept === null ? 'identical' : 'created',
      },
      ...(kept === null
        ? []
        : [
            {
              kind,
              key: kept.info.key,
              size: kept.info.size,
              sha256: kept.sha256,
              outcome: 'conflict' as const,
            },
          ]),
    ];
    const line = operatorLine(
      { actor, reason },
      {
        deliveryId,
        outcome: 'chosen',
        jobId,
        items,
        source: metadata.source ?? null,
        region: metadata.region ?? null,
        status: metadata.status ?? null,
        context: contextOf(parts, metadata),
        durationMs: Math.round(performance.now() - started),
      },
    );
    await parts.ledger.append(line);
    return line;
  } finally {
    // If this fails, the next choice waits until the claim expires.
    await claim.release().catch(() => undefined);
  }
}

/** Throws `not-found` when the key is not a version of an artefact of the job. */
async function placeIn(
  parts: ChooseParts,
  jobId: string,
  key: string,
  scope: SourceScope,
): Promise<ArtefactPlace> {
  const place = isKey(key) ? artefactOfVersion(key) : null;
  const isBelow = (prefixes: readonly string[]) =>
    prefixes.some((prefix) => jobFolder(prefix, jobId) === place?.folder);
  if (place !== null && isBelow(parts.keyPrefixes)) return place;
  await parts.fresh();
  if (place !== null && isBelow(await otherPrefixesOf(parts, jobId, scope))) return place;
  throw unknownVersion();
}

function unknownVersion(): Problem {
  return new Problem('not-found', 'The job has no artefact or conflict with this key.');
}

async function rejectErased(store: ObjectStore, jobId: string): Promise<void> {
  if ((await readErasure(store, jobId)) !== null)
    throw new Problem('conflict', 'This job was erased: there is nothing to choose between.');
}

/** Hashes the bytes rather than trusting the metadata, because the artefact may be damaged and the right bytes among its conflicts. */
async function versionAt(store: ObjectStore, key: string): Promise<Version> {
  const info = await store.head(key);
  const found = info === null ? null : await readBack(store, key);
  if (info === null || found === null) throw unknownVersion();
  return { info, sha256: found.sha256 };
}

/** Replaces the version that counts by the chosen one. Returns the replaced version, or null if nothing was ever replaced. */
async function replace(
  { store }: ChooseParts,
  place: ArtefactPlace,
  counting: Version,
  chosen: Version,
): Promise<Version | null> {
  if (counting.sha256 === chosen.sha256) return replacedBefore(store, place, counting);
  const kept = await keep(store, place, counting);
  const headers = headersOf(chosen, counting.sha256);
  if ((await store.copy(chosen.info, counting.info.key, headers, counting.info)) === 'copied') return kept;
  // After a lost answer our own copy may have succeeded.
  const now = await versionAt(store, counting.info.key);
  if (now.sha256 === chosen.sha256) return kept;
  throw changedMeanwhile();
}

/** The version that an earlier attempt replaced before it failed to write its line. */
async function replacedBefore(
  store: ObjectStore,
  place: ArtefactPlace,
  { info }: Version,
): Promise<Version | null> {
  const sha256 = info.metadata[REPLACED];
  if (sha256 === undefined) return null;
  const key = conflictKey(place.folder, place.path, sha256);
  const kept = await store.head(key);
  return kept === null ? null : { info: kept, sha256 };
}

/** Copies the version that counts now to the conflicts, unless it is there already. */
async function keep(store: ObjectStore, place: ArtefactPlace, { info, sha256 }: Version): Promise<Version> {
  const { folder, path } = place;
  const { size } = info;
  const before = await findConflict(store, place, { size, sha256 });
  if (before !== null) return { info: before, sha256 };
  const key = conflictKey(folder, path, sha256);
  await store.copy(info, key, headersOf({ info, sha256 }, null), null);
  const kept = await versionAt(store, key).catch(nullIfUnknown);
  if (kept?.sha256 !== sha256) throw changedMeanwhile();
  await claimConflict(store, { folder, path, size, sha256, key });
  return kept;
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof Problem) return null;
  throw error;
}

function changedMeanwhile(): Problem {
  return new Problem('conflict', 'The artefact changed meanwhile; look at its versions again.');
}

/** @param replaced hash of the bytes that it replaces */
function headersOf({ info, sha256 }: Version, replaced: string | null): ObjectHeaders {
  const { key, contentType, metadata } = info;
  const kind = retentionClassOf(kindOfPath(artefactOfVersion(key)?.path ?? ''));
  const { source } = metadata;
  return {
    contentType,
    metadata: versionMetadata(metadata, sha256, replaced),
    content: source === undefined ? undefined : { kind, source },
  };
}

/** Removes the copy if the job was erased meanwhile: an erasure that listed the job before the copy was visible leaves it. */
async function removeIfErased(
  { store }: ChooseParts,
  { folder }: ArtefactPlace,
  jobId: string,
): Promise<void> {
  if ((await readErasure(store, jobId)) === null) return;
  const keyPrefix = folder.slice(0, -jobFolder('', jobId).length);
  for await (const _removed of purgeArtefacts(store, keyPrefix, jobId));
  throw new Problem('conflict', 'The job was erased meanwhile.');
}

/** The context of the delivery that stored the version, limited to names that its source still admits. */
function contextOf({ sources }: ChooseParts, metadata: ObjectInfo['metadata']): DeliveryContext | null {
  const names = sources.get(metadata.source ?? '')?.context ?? [];
  const values = names.flatMap((name) => {
    const value = metadata[metadataName(name)];
    return value === undefined ? [] : [[name, value] as const];
  });
  return values.length === 0 ? null : Object.fromEntries(values);
}
