import type { DatabaseSync } from 'node:sqlite';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { HOUR } from '../../ledger/hours.js';
import type { LineClasses } from '../line-classes.js';
import { NO_REGION } from './period-figures.js';

/** When the last callback was accepted of a source, region and credential. */
export interface AcceptedAt {
  readonly source: string | null;
  /** Null: from an address of no region. */
  readonly region: string | null;
  readonly credential: string | null;
  /** Milliseconds since the epoch. */
  readonly received: number;
}

/** The last accepted callbacks of the hours from `since` on, in milliseconds since the epoch. */
export function lastAccepted(
  database: DatabaseSync,
  classes: LineClasses,
  { since, scope = null }: { readonly since: number; readonly scope?: SourceScope },
): AcceptedAt[] {
  const rows = database.prepare(
    'SELECT class, max(latest) AS latest FROM figures WHERE width = ? AND start >= ? GROUP BY class',
  );
  const last = new Map<string, AcceptedAt>();
  for (const row of rows.iterate(HOUR, since)) {
    const { origin, outcome, source, region, credential } = classes.byId(Number(row.class));
    if (origin !== 'callback' || outcome === 'refused' || !isInScope(scope, source)) continue;
    const name = JSON.stringify([source, region, credential]);
    const received = Math.max(last.get(name)?.received ?? 0, Number(row.latest));
    last.set(name, { source, region, credential, received });
  }
  return [...last.values()];
}

/** When the last callback was accepted, by name; ISO 8601. */
export interface LastAccepted {
  /** Empty for a client that may see some sources only. */
  readonly byRegion: Readonly<Record<string, string>>;
  readonly bySource: Readonly<Record<string, string>>;
  /** By `<source>/<credential>`. */
  readonly byCredential: Readonly<Record<string, string>>;
}

export function lastOf(accepted: readonly AcceptedAt[], scope: SourceScope): LastAccepted {
  return {
    byRegion: scope === null ? newest(accepted.map((each) => [each.region ?? NO_REGION, each.received])) : {},
    bySource: newest(
      accepted.flatMap(({ source, received }) => (source === null ? [] : [[source, received]])),
    ),
    byCredential: newest(
      accepted.flatMap(({ source, credential, received }) =>
        credential === null ? [] : [[`${source}/${credential}`, received]],
      ),
    ),
  };
}

function newest(times: readonly (readonly [name: string, time: number])[]): Record<string, string> {
  const sorted = times.toSorted(([, a], [, b]) => a - b);
  return Object.fromEntries(sorted.map(([name, time]) => [name, new Date(time).toISOString()]));
}
