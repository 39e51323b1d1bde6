import type { DatabaseSync } from 'node:sqlite';
import { CALLBACK_RETRY_WINDOW, TRANSIENT_REASONS } from '../../domain/callback-retries.js';
import type { ReasonCode } from '../../domain/reasons.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { HOUR } from '../../ledger/hours.js';
import { readState } from '../index-state.js';
import { idsOf, isAccepted, isMissed, isRefused, type LineClass, notBroughtBefore } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';
import { type AcceptedAt, lastAccepted } from './last-accepted.js';

/** Accepted callbacks of a source that accepted one within the last day. */
interface AcceptedCallbacks {
  /** Within the last hour. */
  readonly jobs: number;
  readonly requests: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
}

/** Authenticated callbacks of one source that were rejected for one reason within the last hour. */
interface RefusedCallbacks {
  readonly source: string | null;
  readonly reason: ReasonCode | null;
  /** Jobs whose callback was rejected and not accepted afterwards, and requests that named no job. */
  readonly count: number;
  /** Requests after the last accepted callback of the source. */
  readonly sinceAccepted: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
}

/** Jobs whose results a recovery had to fetch, because no callback had brought them. */
interface MissedCallbacks {
  /** Jobs of the last day, `failed` and `unrecoverable` ones included. */
  readonly jobs: number;
  readonly lastHour: number;
  /** The one that was noticed last. */
  readonly lastJob: string | null;
}

/** The same of one source. */
interface MissedOfSource extends MissedCallbacks {
  readonly source: string;
}

/** Accepted, refused and missed callbacks of the last hour and day. */
export interface RecentCallbacks {
  /** Start of the counted lines, in milliseconds since the epoch; later than an hour or a day ago where the index begins later. */
  readonly hourSince: number;
  readonly daySince: number;
  readonly accepted: ReadonlyMap<string | null, AcceptedCallbacks>;
  readonly refused: readonly RefusedCallbacks[];
  readonly missed: MissedCallbacks & { readonly bySource: readonly MissedOfSource[] };
}

const DAY = 24 * HOUR;
/** The largest `Date`. */
const MAX_TIME = 8.64e15;

/** @param now in milliseconds since the epoch */
export function countCallbacks(
  index: ReadableIndex,
  { now, scope = null }: { readonly now: number; readonly scope?: SourceScope },
): RecentCallbacks {
  const { database, classes } = index;
  const own = classes.all().filter(({ source }) => isInScope(scope, source));
  const accepted = own.filter(isAccepted);
  const refused = own.filter(isRefused);
  const { since, until } = readState(index);
  const known = until === null ? now : Math.min(now, since ?? 0);
  const hourSince = Math.max(now - HOUR, known);
  const daySince = Math.max(now - DAY, known);
  const last = lastAccepted(index, { since: daySince, scope });
  const acceptedOf = acceptedSince(database, accepted, last, hourSince);
  return {
    hourSince,
    daySince,
    accepted: acceptedOf,
    refused: refusedSince(database, { refused, accepted, acceptedOf, since: hourSince, now }),
    missed: missedSince(index, own.filter(isMissed), daySince, now),
  };
}

function acceptedSince(
  database: DatabaseSync,
  accepted: readonly LineClass[],
  last: readonly AcceptedAt[],
  since: number,
): Map<string | null, AcceptedCallbacks> {
  const found = new Map<string | null, AcceptedCallbacks>();
  for (const source of new Set(last.map((each) => each.source))) {
    const ids = idsOf(accepted.filter((each) => each.source === source));
    const row = database
      .prepare(
        `SELECT count(DISTINCT job) AS jobs, count(*) AS requests FROM lines WHERE class IN (${ids}) AND written >= ?`,
      )
      .get(since);
    const lastAt = Math.max(...last.filter((each) => each.source === source).map(({ written }) => written));
    found.set(source, { jobs: Number(row?.jobs), requests: Number(row?.requests), lastAt });
  }
  return found;
}

interface RefusedQuery {
  readonly refused: readonly LineClass[];
  readonly accepted: readonly LineClass[];
  readonly acceptedOf: RecentCallbacks['accepted'];
  readonly since: number;
  readonly now: number;
}

/** Leaves out jobs whose callback was accepted afterwards, and callbacks that the service most likely still retries. */
function refusedSince(
  database: DatabaseSync,
  { refused, accepted, acceptedOf, since, now }: RefusedQuery,
): RefusedCallbacks[] {
  const groups = refused.map(({ id, source, reason }) => ({
    id,
    source,
    reason,
    accepted: accepted.filter((each) => each.source === source).map((each) => each.id),
    lastAt: acceptedOf.get(source)?.lastAt ?? 0,
    until: reason !== null && TRANSIENT_REASONS.includes(reason) ? now - CALLBACK_RETRY_WINDOW : MAX_TIME,
  }));
  const rows = database.prepare(
    `SELECT r.value ->> 'source' AS source, r.value ->> 'reason' AS reason, count(DISTINCT job) + sum(job IS NULL) AS count,
       count(DISTINCT iif(received > r.value ->> 'lastAt', job, NULL)) + sum(job IS NULL AND received > r.value ->> 'lastAt') AS after,
       min(received) AS first
     FROM json_each(?) r CROSS JOIN lines l ON l.class = r.value ->> 'id'
     WHERE written >= ? AND received <= r.value ->> 'until' AND (job IS NULL OR NOT EXISTS (SELECT 1 FROM lines a
       WHERE a.job = l.job AND a.received >= l.received AND a.class IN (SELECT value FROM json_each(r.value, '$.accepted'))))
     GROUP BY 1, 2`,
  );
  return rows.all(JSON.stringify(groups), since).map((row) => ({
    source: row.source as string | null,
    reason: row.reason as ReasonCode | null,
    count: Number(row.count),
    sinceAccepted: Number(row.after),
    first: Number(row.first),
  }));
}

/** Counts for all sources together and for each, in one query. SQLite takes `job` from the row of the maximum. */
function missedSince(
  { database, classes }: ReadableIndex,
  recoveries: readonly LineClass[],
  since: number,
  now: number,
): RecentCallbacks['missed'] {
  const groups = recoveries.flatMap(({ id, source }) => [
    [id, null],
    ...(source === null ? [] : [[id, source]]),
  ]);
  const rows = database.prepare(
    `SELECT s.value ->> 1 AS source, count(DISTINCT job) AS jobs, count(DISTINCT iif(written >= ?, job, NULL)) AS lately,
       job AS last, max(received)
     FROM json_each(?) s CROSS JOIN lines l ON l.class = s.value ->> 0
     WHERE written >= ? AND job IS NOT NULL AND ${notBroughtBefore(classes)} GROUP BY 1 ORDER BY 1`,
  );
  const [all = { jobs: 0, lastHour: 0, lastJob: null }, ...bySource] = rows
    .all(Math.max(since, now - HOUR), JSON.stringify(groups), since)
    .map((row) => ({
      source: String(row.source),
      jobs: Number(row.jobs),
      lastHour: Number(row.lately),
      lastJob: String(row.last),
    }));
  return { jobs: all.jobs, lastHour: all.lastHour, lastJob: all.lastJob, bySource };
}

/**
 * Numbers of jobs with an accepted or missed callback, by source; under null: of all sources. Takes a second or two for a million jobs.
 */
export function countJobs(
  { database, classes }: ReadableIndex,
  { since, scope = null }: { readonly since: number; readonly scope?: SourceScope },
): ReadonlyMap<string | null, number> {
  const wanted = classes
    .all()
    .filter((each) => (isAccepted(each) || isMissed(each)) && isInScope(scope, each.source));
  const rows = database.prepare(
    `SELECT sources, count(*) AS jobs FROM
       (SELECT json_group_array(DISTINCT s.value ->> 1) AS sources FROM json_each(?) s CROSS JOIN lines l ON l.class = s.value ->> 0
        WHERE written >= ? AND job IS NOT NULL GROUP BY job) GROUP BY 1`,
  );
  const counts = new Map<string | null, number>([[null, 0]]);
  for (const { sources, jobs } of rows.iterate(
    JSON.stringify(wanted.map(({ id, source }) => [id, source])),
    since,
  ))
    for (const source of new Set([null, ...(JSON.parse(String(sources)) as (string | null)[])]))
      counts.set(source, (counts.get(source) ?? 0) + Number(jobs));
  return counts;
}
