import type { LifecycleRule, Tag } from '@aws-sdk/client-s3';

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
