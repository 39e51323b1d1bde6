import { setImmediate as immediate } from 'node:timers/promises';
import type { ReasonCode } from '../../../domain/reasons.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { isStillTried } from '../../../domain/still-tried.js';
import { HOUR } from '../../hours.js';
import { DAY } from '../time-ranges.js';
import type { LedgerRow } from '../window/ledger-row.js';
import type { RowWindow } from '../window/row-window.js';

/** Accepted callbacks of a source within the last hour. */
interface AcceptedCallbacks {
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
  /** Those of them after the last accepted callback of the source. */
  readonly sinceAccepted: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
}

/** Jobs whose results a recovery had to fetch, because no callback had brought them. */
interface MissedCallbacks {
  /** Of the last day; `failed` and `unrecoverable` ones included. */
  readonly jobs: number;
  readonly lastHour: number;
  /** All jobs of the last day. */
  readonly ofJobs: number;
  /** The one that was noticed last. */
  readonly lastJob: string | null;
}

/** How the callbacks of the last hour and day fared. */
export interface CallbackFigures {
  /** Milliseconds since the epoch: lines from then on were counted. Later than asked where there were too many for memory. */
  readonly hourSince: number;
  readonly daySince: number;
  readonly accepted: ReadonlyMap<string | null, AcceptedCallbacks>;
  readonly refused: readonly RefusedCallbacks[];
  readonly missed: MissedCallbacks;
}

export interface CallbackFiguresOptions {
  readonly window: Pick<RowWindow, 'hoursBefore'>;
  /** The window holds everything written from then on; infinite before anything was read. */
  readonly completeSince: number;
  readonly scope: SourceScope;
  readonly now: number;
}

/** Counts the lines in memory. The number of sources, reasons and jobs is bounded by them. */
export async function callbackFigures(options: CallbackFiguresOptions): Promise<CallbackFigures> {
  const { window, completeSince, scope, now } = options;
  const known = Math.min(now, completeSince);
  const daySince = Math.max(now - DAY, known);
  const hourSince = Math.max(now - HOUR, known);
  const count = createCount(now, hourSince);
  for (const rows of newestFirst(window, daySince)) {
    for (const row of rows) if (row.written >= daySince && isInScope(scope, row.source)) count.add(row);
    await immediate();
  }
  return { hourSince, daySince, ...count.result() };
}

/** Rows per turn of the event loop. */
const SLICE = 20_000;

/** Slices of the rows of a moment, newest first. */
function newestFirst(window: Pick<RowWindow, 'hoursBefore'>, since: number): LedgerRow[][] {
  const slices: LedgerRow[][] = [];
  for (const { rows } of window.hoursBefore()) {
    if ((rows.at(-1)?.written ?? 0) < since) break;
    for (let end = rows.length; end > 0; end -= SLICE)
      slices.push(rows.slice(Math.max(0, end - SLICE), end).reverse());
  }
  return slices;
}

/** `noted`: a job without a transcript whose callback was lost. */
const MISSED: ReadonlySet<string> = new Set(['recovered', 'noted', 'failed', 'unrecoverable']);

/** Rows must come newest first: what came later than a rejection is then known. */
function createCount(now: number, hourSince: number) {
  const jobsOfDay = new Set<string>();
  const missed = new Set<string>();
  const missedLately = new Set<string>();
  const accepted = new Map<string | null, { jobs: Set<string>; requests: number; lastAt: number }>();
  const refused = new Map<string, RefusedGroup>();

  function addAccepted({ source, job, received, written }: LedgerRow): void {
    if (job !== null) jobsOfDay.add(job);
    if (written < hourSince) return;
    const known = accepted.get(source) ?? { jobs: new Set(), requests: 0, lastAt: received };
    accepted.set(source, known);
    known.requests += 1;
    known.lastAt = Math.max(known.lastAt, received);
    if (job !== null) known.jobs.add(job);
  }

  function addRefused(row: LedgerRow): void {
    const { source, job, reason, received, written } = row;
    if (written < hourSince || isStillTried(row, now)) return;
    const later = accepted.get(source);
    if (job !== null && later?.jobs.has(job)) return;
    const name = `${reason} ${source}`;
    const group = refused.get(name) ?? {
      source,
      reason,
      before: newTally(),
      since: newTally(),
      first: received,
    };
    refused.set(name, group);
    const tally = later === undefined || received > later.lastAt ? group.since : group.before;
    if (job === null) tally.unnamed += 1;
    else if (!group.since.jobs.has(job)) tally.jobs.add(job);
    group.first = Math.min(group.first, received);
  }

  function addMissed({ job, written }: LedgerRow): void {
    if (job === null) return;
    missed.add(job);
    if (written >= now - HOUR) missedLately.add(job);
  }

  return {
    add(row: LedgerRow): void {
      const { origin, outcome, isAct } = row;
      if (origin === 'callback') outcome === 'refused' ? addRefused(row) : addAccepted(row);
      else if (origin === 'recovery' && !isAct && MISSED.has(outcome)) addMissed(row);
    },
    result: () => ({
      accepted: new Map(
        [...accepted].map(([source, { jobs, ...rest }]) => [source, { ...rest, jobs: jobs.size }]),
      ),
      refused: [...refused.values()].map(({ source, reason, before, since, first }) => {
        const sinceAccepted = totalOf(since);
        return { source, reason, first, sinceAccepted, count: sinceAccepted + totalOf(before) };
      }),
      missed: {
        jobs: missed.size,
        lastHour: missedLately.size,
        ofJobs: jobsOfDay.size + [...missed].filter((job) => !jobsOfDay.has(job)).length,
        lastJob: missed.values().next().value ?? null,
      },
    }),
  };
}

interface Tally {
  readonly jobs: Set<string>;
  unnamed: number;
}

interface RefusedGroup {
  readonly source: string | null;
  readonly reason: ReasonCode | null;
  /** Rejected before, and after, the last accepted callback of the source. */
  readonly before: Tally;
  readonly since: Tally;
  first: number;
}

function newTally(): Tally {
  return { jobs: new Set(), unnamed: 0 };
}

function totalOf({ jobs, unnamed }: Tally): number {
  return jobs.size + unnamed;
}
