import {
  type DefaultRetention,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  type LifecycleRule,
  type S3Client,
  type Tag,
} from '@aws-sdk/client-s3';
import type { StoreTraits } from '../../object-store.js';
import { createS3Client, s3Limits } from '../s3-client.js';
import { asFailure } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';
import { createAnswerCheck } from '../wire/answer-check.js';

/** Properties of a bucket, for messages; the receiver never decides by them. */
export interface BucketFacts extends StoreTraits {
  /** Milliseconds that this machine's clock is ahead of the server's; null when no answer had a Date. */
  readonly clockAheadMs: number | null;
  /** Whether a lifecycle rule aborts incomplete uploads below the prefix, or why that is unknown. */
  readonly endsIncompleteUploads: boolean | { readonly unknown: string };
  /** Days after which a lifecycle rule ends an object; null for never. Null itself when the rules are unknown. */
  readonly daysUntilEnd: ((key: string, tags: Readonly<Record<string, string>>) => number | null) | null;
}

/** Needs permissions that the receiver itself does not. Never throws. */
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

/** AWS has the first for every bucket without it; others answer that they do not know it. */
const WITHOUT_LOCK = new Set(['ObjectLockConfigurationNotFoundError', 'NoSuchObjectLockConfiguration']);

function inWords(retention: DefaultRetention | undefined): string | null {
  if (retention === undefined) return null;
  const { Mode, Days, Years } = retention;
  const time = Days === undefined ? `${Years} years` : `${Days} days`;
  return `${String(Mode).toLowerCase()} for ${time}`;
}

/** Reads a bucket's lifecycle rules and traits, and the server's time. Never throws. */
export async function inspectBucket(place: {
  readonly bucket: string;
  readonly prefix: string;
  readonly settings: S3Settings;
}): Promise<BucketFacts> {
  const client = createS3Client(
    place.settings,
    s3Limits(place.settings),
    createAnswerCheck(place.settings.expectedBucketOwner),
  );
  let clockAheadMs: number | null = null;
  // Errors have a Date as well, and a clock that is far off causes one.
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentAt = Date.now();
      const result = await next(args);
      const { headers } = result.response as { headers?: Record<string, string> };
      const serverTime = Date.parse(headers?.date ?? '');
      if (!Number.isNaN(serverTime)) clockAheadMs = aheadOf(serverTime, sentAt, Date.now());
      return result;
    },
    { step: 'deserialize', name: 'noteServerTime', priority: 'low' },
  );
  const [traits, lifecycle] = await Promise.all([
    bucketTraits(client, place.bucket, place.settings),
    readLifecycle(client, place),
  ]);
  client.destroy();
  return { ...traits, clockAheadMs, ...lifecycle };
}

type LifecycleFacts = Pick<BucketFacts, 'endsIncompleteUploads' | 'daysUntilEnd'>;

/** Never throws. */
async function readLifecycle(
  client: S3Client,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
): Promise<LifecycleFacts> {
  try {
    const { Rules = [] } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    return lifecycleFacts(Rules, prefix);
  } catch (error) {
    const { code, message } = asFailure(error);
    if (code === 'NoSuchLifecycleConfiguration') return lifecycleFacts([], prefix);
    return { endsIncompleteUploads: { unknown: message }, daysUntilEnd: null };
  }
}

function lifecycleFacts(rules: readonly LifecycleRule[], prefix: string): LifecycleFacts {
  return {
    endsIncompleteUploads: endsIncompleteUploads(rules, prefix),
    daysUntilEnd: (key, tags) => daysUntilEnd(rules, prefix + key, tags),
  };
}

/** The server's time is truncated to seconds, and was taken between sending and receiving. */
function aheadOf(serverTime: number, sentAt: number, receivedAt: number): number {
  if (sentAt > serverTime + 999) return sentAt - serverTime - 999;
  return receivedAt < serverTime ? receivedAt - serverTime : 0;
}

/** Whether an enabled rule aborts incomplete uploads of every key below `prefix`. */
export function endsIncompleteUploads(rules: readonly LifecycleRule[], prefix: string): boolean {
  return rules.some((rule) => {
    const scope = rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? rule.Prefix ?? '';
    const days = rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation;
    return rule.Status === 'Enabled' && days !== undefined && prefix.startsWith(scope);
  });
}

/** Days after which a rule ends an object of any size; the fewest, as S3 decides. Null: no rule ends it. */
export function daysUntilEnd(
  rules: readonly LifecycleRule[],
  key: string,
  tags: Readonly<Record<string, string>>,
): number | null {
  const days = rules
    .filter((rule) => rule.Status === 'Enabled' && covers(rule, key, tags))
    .flatMap(({ Expiration }) => Expiration?.Days ?? []);
  return days.length === 0 ? null : Math.min(...days);
}

function covers(rule: LifecycleRule, key: string, tags: Readonly<Record<string, string>>): boolean {
  const { Prefix, Tag: tag, And: and, ...sizes } = rule.Filter ?? {};
  const prefix = Prefix ?? and?.Prefix ?? rule.Prefix ?? '';
  const demanded: readonly Tag[] = [...(tag === undefined ? [] : [tag]), ...(and?.Tags ?? [])];
  return (
    key.startsWith(prefix) &&
    demanded.every(({ Key, Value }) => tags[Key ?? ''] === Value) &&
    [sizes, and ?? {}].every(coversAllSizes)
  );
}

interface Sizes {
  readonly ObjectSizeGreaterThan?: number | undefined;
  readonly ObjectSizeLessThan?: number | undefined;
}

function coversAllSizes({ ObjectSizeGreaterThan: above, ObjectSizeLessThan: below }: Sizes): boolean {
  return above === undefined && below === undefined;
}
