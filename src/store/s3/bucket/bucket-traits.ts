import {
  type DefaultRetention,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { StoreTraits } from '../../object-store.js';
import { asFailure } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';

/** Reads properties of a bucket. Needs permissions that the receiver otherwise does not need. Never throws. */
export async function bucketTraits(
  client: S3Client,
  bucket: string,
  { lock }: Pick<S3Settings, 'lock'>,
): Promise<StoreTraits> {
  const [versioning, found] = await Promise.all([
    client.send(new GetBucketVersioningCommand({ Bucket: bucket })).then(
      ({ Status }) => (Status === 'Enabled' ? 'on' : Status === 'Suspended' ? 'suspended' : 'off'),
      () => null,
    ),
    client.send(new GetObjectLockConfigurationCommand({ Bucket: bucket })).then(
      ({ ObjectLockConfiguration }) => ({
        isOn: ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled',
        retention: ObjectLockConfiguration?.Rule?.DefaultRetention,
      }),
      (error: unknown) =>
        WITHOUT_LOCK.has(asFailure(error).code) ? { isOn: false, retention: undefined } : null,
    ),
  ]);
  const isImpossible = Boolean(lock) && found?.isOn === false;
  return {
    versioning,
    objectLock: found?.isOn ?? null,
    defaultRetention: inWords(found?.retention),
    fault: isImpossible ? 'store.s3.lock is set, but the bucket was created without Object Lock' : null,
  };
}

/** Codes for a bucket without Object Lock: AWS's, and that of other servers. */
const WITHOUT_LOCK = new Set(['ObjectLockConfigurationNotFoundError', 'NoSuchObjectLockConfiguration']);

function inWords(retention: DefaultRetention | undefined): string | null {
  if (retention === undefined) return null;
  const { Mode, Days, Years } = retention;
  const time = Days === undefined ? `${Years} years` : `${Days} days`;
  return `${String(Mode).toLowerCase()} for ${time}`;
}
