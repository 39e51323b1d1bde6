import { isInScope, type SourceScope } from '../../domain/rights.js';
import { isAccepted } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';
import { NO_REGION } from './figures.js';

/** When the last callback of a source, region and credential was accepted, by the time of writing. */
export interface AcceptedAt {
  readonly source: string | null;
  /** Null: from an address of no region. */
  readonly region: string | null;
  readonly credential: string | null;
  /** Milliseconds since the epoch. */
  readonly written: number;
}

/** The last accepted callbacks since an instant, in milliseconds since the epoch. */
export function lastAccepted(
  { database, classes }: ReadableIndex,
  { since, scope = null }: { readonly since: number; readonly scope?: SourceScope },
): AcceptedAt[] {
  const last = database.prepare('SELECT max(written) AS written FROM lines WHERE class = ? AND written >= ?');
  return classes.all().flatMap((each) => {
    const { id, source, region, credential } = each;
    if (!isAccepted(each) || !isInScope(scope, source)) return [];
    const written = last.get(id, since)?.written ?? null;
    return written === null ? [] : [{ source, region, credential, written: Number(written) }];
  });
}

/** When the last callback was accepted, by name; ISO 8601. */
export interface LastAccepted {
  /** Empty for a client that may see some sources only. */
  readonly byRegion: Readonly<Record<string, string>>;
  /** By `<source>/<credential>`. */
  readonly byCredential: Readonly<Record<string, string>>;
}

export function lastOf(accepted: readonly AcceptedAt[], scope: SourceScope): LastAccepted {
  return {
    byRegion: scope === null ? newest(accepted.map((each) => [each.region ?? NO_REGION, each.written])) : {},
    byCredential: newest(
      accepted.flatMap(({ source, credential, written }) =>
        credential === null ? [] : [[`${source}/${credential}`, written]],
      ),
    ),
  };
}

function newest(times: readonly (readonly [name: string, time: number])[]): Record<string, string> {
  const sorted = times.toSorted(([, a], [, b]) => a - b);
  return Object.fromEntries(sorted.map(([name, time]) => [name, new Date(time).toISOString()]));
}
