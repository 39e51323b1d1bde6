import { GetBucketLifecycleConfigurationCommand, type LifecycleRule, type Tag } from '@aws-sdk/client-s3';
import { createS3Client, s3Limits } from '../s3-client.js';
import { asFailure } from '../s3-failure.js';
import type { S3Settings } from '../s3-options.js';
import { createAnswerCheck } from '../wire/answer-check.js';

/** Effects of a bucket's lifecycle rules, for messages only. */
export interface BucketLifecycle {
  /** Whether a rule aborts incomplete uploads below the prefix, or why that is unknown. */
  readonly endsIncompleteUploads: boolean | { readonly unknown: string };
  /** Days after which a rule expires an object; null for never. Null itself when the rules are unknown. */
  readonly daysUntilEnd: ((key: string, tags: Readonly<Record<string, string>>) => number | null) | null;
}

/** Reads the lifecycle rules. Needs a permission that the receiver otherwise does not need. Never throws. */
export async function readLifecycle({
  bucket,
  prefix,
  settings,
}: {
  readonly bucket: string;
  readonly prefix: string;
  readonly settings: S3Settings;
}): Promise<BucketLifecycle> {
  const { client } = createS3Client(
    settings,
    s3Limits(settings),
    createAnswerCheck(settings.expectedBucketOwner),
  );
  try {
    const { Rules = [] } = await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    return lifecycleOf(Rules, prefix);
  } catch (error) {
    const { code, message } = asFailure(error);
    if (code === 'NoSuchLifecycleConfiguration') return lifecycleOf([], prefix);
    return { endsIncompleteUploads: { unknown: message }, daysUntilEnd: null };
  } finally {
    client.destroy();
  }
}

function lifecycleOf(rules: readonly LifecycleRule[], prefix: string): BucketLifecycle {
  return {
    endsIncompleteUploads: endsIncompleteUploads(rules, prefix),
    daysUntilEnd: (key, tags) => daysUntilEnd(rules, prefix + key, tags),
  };
}

/** Whether an enabled rule aborts incomplete uploads of every key below `prefix`. */
export function endsIncompleteUploads(rules: readonly LifecycleRule[], prefix: string): boolean {
  return rules.some((rule) => {
    const scope = rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? rule.Prefix ?? '';
    const days = rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation;
    return rule.Status === 'Enabled' && days !== undefined && prefix.startsWith(scope);
  });
}

/** Days after which a rule expires an object of any size; the lowest number, as S3 decides. Null: no rule expires it. */
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
