import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
} from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { type KeptObject, type PurgedObject, StoreError } from '../object-store.js';
import { located, type S3Bucket } from './bucket/s3-bucket.js';
import { decodeKey, listObjects } from './list-objects.js';
import { deleteObject } from './read-object.js';
import { asFailure, isMissing, type S3Failure, withRetries } from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';

interface Version {
  readonly key: string;
  readonly size: number;
  /** `null`, as text, for an object that was written without versioning. */
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
}

const DELETES_AT_ONCE = 16;

/**
 * Removes objects, old versions and delete markers below a folder. Lists versions instead of objects, which costs
 * the same request in a bucket without versioning. A delete marker is kept as long as a version of its key is kept: without
 * it the version would become the object again.
 */
export async function* purgeObjects(bucket: S3Bucket, folder: string): AsyncGenerator<PurgedObject> {
  const limit = pLimit(DELETES_AT_ONCE);
  const keptKeys = new Set<string>();
  const markers: Version[] = [];
  try {
    for await (const versions of versionPages(bucket, folder)) {
      markers.push(...versions.filter(({ isMarker }) => isMarker));
      const objects = versions.filter(({ isMarker }) => !isMarker);
      const purged = await Promise.all(objects.map((version) => limit(() => purgeVersion(bucket, version))));
      for (const each of purged) if (each.kept !== null) keptKeys.add(each.key);
      yield* purged;
    }
  } catch (error) {
    if (!(error instanceof VersionsUnknown)) throw error;
    yield* purgeCurrent(bucket, folder, error.failure);
    return;
  }
  const removable = markers.filter(({ key }) => !keptKeys.has(key));
  await Promise.all(removable.map((marker) => limit(() => removeVersion(bucket, marker))));
}

/** Keys below a folder, including those with only old versions left. */
export async function* tracedKeys(bucket: S3Bucket, folder: string): AsyncGenerator<string> {
  try {
    for await (const versions of versionPages(bucket, folder)) for (const { key } of versions) yield key;
  } catch (error) {
    if (!(error instanceof VersionsUnknown)) throw error;
    for await (const { key } of listObjects(bucket, folder)) yield key;
  }
}

/** The server does not list versions: the permission is missing, or it has no versions. */
class VersionsUnknown extends Error {
  readonly failure: S3Failure;

  constructor(failure: S3Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

const NOT_IMPLEMENTED = new Set([405, 501]);

async function* versionPages(bucket: S3Bucket, folder: string): AsyncGenerator<Version[]> {
  const prefix = bucket.prefix + folder;
  let position: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | null = {};
  while (position !== null) {
    const page: ListObjectVersionsCommandOutput = await listVersions(bucket, prefix, position);
    const keyOf = (text: string | undefined): string => decodeKey(text ?? '', page.EncodingType);
    const read = (isMarker: boolean, each: ListedVersion): Version => ({
      key: keyOf(each.Key).slice(bucket.prefix.length),
      size: each.Size ?? 0,
      versionId: each.VersionId ?? 'null',
      isLatest: each.IsLatest ?? true,
      isMarker,
    });
    const found = [
      ...(page.Versions ?? []).map((each) => read(false, each)),
      ...(page.DeleteMarkers ?? []).map((each) => read(true, each)),
    ];
    yield found.filter(({ key }) => isWithin(key, folder));
    if (page.IsTruncated && !page.NextKeyMarker)
      throw new StoreError('purge', `the listing of versions of "${folder}" is truncated and does not go on`);
    position = page.IsTruncated
      ? { KeyMarker: keyOf(page.NextKeyMarker), VersionIdMarker: page.NextVersionIdMarker }
      : null;
  }
}

/** Whether a listed key belongs to the place: a listing treats the name of an object as a prefix. */
function isWithin(key: string, place: string): boolean {
  return place.endsWith('/') || key === place;
}

interface ListedVersion {
  readonly Key?: string | undefined;
  readonly Size?: number | undefined;
  readonly VersionId?: string | undefined;
  readonly IsLatest?: boolean | undefined;
}

async function listVersions(
  bucket: S3Bucket,
  prefix: string,
  position: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined },
): Promise<ListObjectVersionsCommandOutput> {
  const input = { ...position, Bucket: bucket.bucket, Prefix: prefix, EncodingType: 'url' as const };
  try {
    return await withRetries(bucket.limits.retry, () =>
      bucket.client.send(new ListObjectVersionsCommand(input)),
    );
  } catch (error) {
    const failure = asFailure(error);
    if (failure.status === 403 || NOT_IMPLEMENTED.has(failure.status ?? 0))
      throw new VersionsUnknown(failure);
    throw s3StoreError('purge', prefix, error);
  }
}

async function purgeVersion(bucket: S3Bucket, version: Version): Promise<PurgedObject> {
  const { key, size, isLatest, versionId } = version;
  const what = isLatest ? 'object' : 'version';
  // Without versioning this is the object itself, which can be deleted without the permission for versions.
  if (isLatest && versionId === 'null') {
    await deleteObject(bucket, key);
    return { key, size, what, kept: null };
  }
  if (await removeVersion(bucket, version)) return { key, size, what, kept: null };
  const kept = await whyKept(bucket, version);
  if (isLatest) await deleteObject(bucket, key);
  return { key, size, what, kept };
}

/** Removes a version; false when the server refuses it. */
async function removeVersion(bucket: S3Bucket, { key, versionId }: Version): Promise<boolean> {
  const input = { ...located(bucket, key), VersionId: versionId };
  try {
    await withRetries(bucket.limits.retry, () => bucket.client.send(new DeleteObjectCommand(input)));
    return true;
  } catch (error) {
    const failure = asFailure(error);
    if (isMissing(failure)) return true;
    if (failure.status === 403) return false;
    throw s3StoreError('purge', key, error);
  }
}

/** HEAD shows retention and legal hold, if permissions allow it. */
async function whyKept(bucket: S3Bucket, { key, versionId }: Version): Promise<KeptObject> {
  const input = { ...located(bucket, key), VersionId: versionId };
  const head = await withRetries(bucket.limits.retry, () =>
    bucket.client.send(new HeadObjectCommand(input)),
  ).catch(() => null);
  if (head?.ObjectLockLegalHoldStatus === 'ON') return { reason: 'legal-hold', until: null };
  const until = head?.ObjectLockRetainUntilDate;
  return until === undefined ? { reason: 'denied', until: null } : { reason: 'retention', until };
}

/** Deletes the current objects where versions cannot be listed; any old versions remain. */
async function* purgeCurrent(
  bucket: S3Bucket,
  folder: string,
  { status }: S3Failure,
): AsyncGenerator<PurgedObject> {
  for await (const { key, size } of listObjects(bucket, folder)) {
    if (!isWithin(key, folder)) continue;
    await deleteObject(bucket, key);
    yield { key, size, what: 'object', kept: null };
  }
  if (status !== 403 || (await isUnversioned(bucket))) return;
  yield { key: folder, size: 0, what: 'version', kept: { reason: 'unlisted', until: null } };
}

async function isUnversioned({ client, bucket }: S3Bucket): Promise<boolean> {
  return client.send(new GetBucketVersioningCommand({ Bucket: bucket })).then(
    ({ Status }) => Status === undefined,
    () => false,
  );
}
