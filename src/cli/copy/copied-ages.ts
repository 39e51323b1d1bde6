import type { Config } from '../../config/config.js';
import { RETENTION_CLASSES, type RetentionClass } from '../../domain/kinds.js';
import { readStoreLocation } from '../../lib/text/store-location.js';
import type { StoreOptions } from '../../store/open-store.js';
import { exampleKey } from '../doctor/check-retention.js';

const DAY = 86_400_000;

/** Lines that say when retention removes the copies, whose ages begin with the copy. Never throws. */
export async function copiedAges(config: Config, to: StoreOptions): Promise<string[]> {
  const location = readStoreLocation(to.url);
  if ('fault' in location) return [];
  const days =
    location.kind === 'file'
      ? ({ ends: (kind) => config.retention[kind] && config.retention[kind] / DAY } satisfies Rules)
      : await rulesOfBucket(config, to, location);
  const whose =
    location.kind === 'file'
      ? 'The retention periods of the configuration'
      : 'The lifecycle rules of the bucket';
  if (days.ends === null)
    return [`${NEW_AGES} The lifecycle rules of the bucket cannot be read; their periods count from today.`];
  const ended = RETENTION_CLASSES.flatMap((kind) => {
    const period = days.ends?.(kind) ?? null;
    return period === null ? [] : [`${kind} on ${dateIn(period)} (${period} days)`];
  });
  if (ended.length === 0) return [`${NEW_AGES} ${whose} expire none of it.`];
  return [`${NEW_AGES} ${whose} expire what was copied today: ${ended.join(', ')}, however old it is.`];
}

const NEW_AGES = 'Every object has a new age in the copy.';

interface Rules {
  /** Days from today until an object expires; null: never. Null itself when the rules are unknown. */
  readonly ends: ((kind: RetentionClass) => number | null) | null;
}

async function rulesOfBucket(
  { keyPrefixes }: Config,
  { s3 = {} }: StoreOptions,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
): Promise<Rules> {
  // Loaded on demand: the SDK of S3 costs a third of a second.
  const { readLifecycle } = await import('../../store/s3/bucket/bucket-lifecycle.js');
  const { daysUntilEnd } = await readLifecycle({ bucket, prefix, settings: s3 });
  if (daysUntilEnd === null) return { ends: null };
  const prefixes = [...new Set(['', ...keyPrefixes])];
  return {
    ends(kind) {
      const found = prefixes.map((each) => daysUntilEnd(exampleKey(kind, each), s3.tags ? { kind } : {}));
      const days = found.filter((each) => each !== null);
      return days.length === 0 ? null : Math.min(...days);
    },
  };
}

function dateIn(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
}
