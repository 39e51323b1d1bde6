import { readProjectFile } from '../manifests.js';

/** A lifecycle rule as `aws s3api put-bucket-lifecycle-configuration` takes it. */
export interface LifecycleRule {
  readonly ID: string;
  readonly Status: 'Enabled' | 'Disabled';
  readonly Filter: {
    readonly Prefix?: string;
    readonly Tag?: Tag;
    readonly And?: { readonly Prefix?: string; readonly Tags: readonly Tag[] };
  };
  readonly Expiration?: { readonly Days?: number; readonly ExpiredObjectDeleteMarker?: true };
  readonly NoncurrentVersionExpiration?: { readonly NoncurrentDays: number };
  readonly AbortIncompleteMultipartUpload?: { readonly DaysAfterInitiation: number };
}

interface Tag {
  readonly Key: string;
  readonly Value: string;
}

export function readLifecycleRules(file: string): LifecycleRule[] {
  return JSON.parse(readProjectFile(file)).Rules;
}

/** The rule that expires a current object first, as S3 decides: of several that match, the one with the fewest days. */
export function expiringRule(
  rules: readonly LifecycleRule[],
  key: string,
  tags: Readonly<Record<string, string>> = {},
): LifecycleRule | null {
  const expiring = rules.filter(
    (rule) =>
      rule.Status === 'Enabled' && rule.Expiration?.Days !== undefined && matches(rule.Filter, key, tags),
  );
  return expiring.sort((a, b) => (a.Expiration?.Days ?? 0) - (b.Expiration?.Days ?? 0))[0] ?? null;
}

function matches(
  { Prefix, Tag, And }: LifecycleRule['Filter'],
  key: string,
  tags: Readonly<Record<string, string>>,
): boolean {
  const demanded = [...(Tag === undefined ? [] : [Tag]), ...(And?.Tags ?? [])];
  return (
    key.startsWith(Prefix ?? And?.Prefix ?? '') && demanded.every(({ Key, Value }) => tags[Key] === Value)
  );
}
