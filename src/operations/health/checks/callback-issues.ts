import type { SenderRefusals } from '../../../domain/summary-figures.js';
import type { CallbackCounts, MissedFigures } from '../../../index/questions/cached-counts.js';
import { issueOf } from '../../issues/issue-kinds.js';
import { type Issue, type IssueLevel, LEVELS } from '../../issues/issues.js';

/** Facts about callbacks for the verdict. */
export interface CallbackFacts
  extends Pick<CallbackCounts, 'hourSince' | 'daySince' | 'accepted' | 'refused' | 'missed'> {
  /** Refusals of the last day, counted by all replicas. */
  readonly unauthenticated: readonly SenderRefusals[];
}

const MINUTE = 60_000;
/** Fewer jobs or requests are no issue, so that stray requests raise none. */
const FEW = 5;
/** Shares of all jobs or requests. */
const SHARE_REFUSED = 0.1;
const SHARE_MISSED = { warning: 0.01, failing: 0.2 };
/** Milliseconds without an accepted callback after which a source receives nothing. */
const NONE_ACCEPTED = 5 * MINUTE;

export function callbackIssues(facts: CallbackFacts, now: number): Issue[] {
  return [...refusedIssues(facts, now), ...missedIssues(facts)];
}

/** Refusals of one source for one reason, with some in the last hour. */
interface Refused {
  readonly source: string | null;
  readonly cause: string;
  /** Unauthenticated requests are counted as requests, because the job that they name cannot be trusted. */
  readonly unit: 'jobs' | 'requests';
  /** Within the last hour. */
  readonly count: number;
  /** Requests since the last accepted callback, at most of the last day; longer than an hour, because a source may get few jobs. */
  readonly sinceAccepted: number;
  /** Some were refused in the minute of the last accepted callback, and may have come before or after it. */
  readonly isMixed: boolean;
  /** Milliseconds since the epoch. */
  readonly first: number;
}

function refusedIssues(facts: CallbackFacts, now: number): Issue[] {
  const groups = [...authenticated(facts), ...unauthenticated(facts, now)];
  return groups
    .sort((one, other) => other.count - one.count)
    .flatMap(({ source, cause, unit, count, sinceAccepted, isMixed, first }) => {
      const { lastAt, [unit]: accepted } = acceptedBy(facts, source);
      // Requests to an unknown source are not a share of accepted callbacks.
      const share = cause === 'source-unknown' ? 1 : count / (count + accepted);
      const level = levelOf({ count, share, sinceAccepted, quietFor: now - lastAt });
      if (level === null) return [];
      const refused = Math.max(count, sinceAccepted);
      const since = new Date(first).toISOString();
      const known = isMixed && sinceAccepted === 0 ? null : sinceAccepted;
      const params = { source, cause, unit, refused, accepted, sinceAccepted: known, since };
      return [issueOf('callbacks-refused', params, level)];
    });
}

interface RefusalFigures {
  readonly count: number;
  /** The refused ones as a fraction of all jobs or requests. */
  readonly share: number;
  readonly sinceAccepted: number;
  /** Milliseconds since the last accepted callback. */
  readonly quietFor: number;
}

/** Warning: five, and a tenth of the last hour. Failing: five since the last accepted callback, which is five minutes ago. */
function levelOf({ count, share, sinceAccepted, quietFor }: RefusalFigures): IssueLevel | null {
  if (sinceAccepted >= FEW && quietFor >= NONE_ACCEPTED) return 'failing';
  return count >= FEW && share >= SHARE_REFUSED ? 'warning' : null;
}

function authenticated({ refused }: CallbackFacts): Refused[] {
  return refused.map(({ reason, ...group }) => ({
    ...group,
    unit: 'jobs',
    cause: reason ?? 'internal',
    isMixed: false,
  }));
}

function unauthenticated(facts: CallbackFacts, now: number): Refused[] {
  const groups = new Map<string, Refused>();
  for (const { source, reason, minutes } of facts.unauthenticated) {
    const { lastAt } = acceptedBy(facts, source);
    const lately = minutes.filter(([start]) => isOfLastHour(start, now));
    // The minute of an accepted callback counts as before it. Before the index begins, accepted callbacks are unknown.
    const isKnown = (start: number) => start >= facts.daySince || isOfLastHour(start, now);
    const sinceAccepted = minutes.filter(([start]) => start > lastAt && isKnown(start));
    const name = `${reason} ${source}`;
    const known = groups.get(name);
    const of = (counted: typeof minutes) => counted.reduce((sum, [, count]) => sum + count, 0);
    const isMixed = lately.some(([start]) => start <= lastAt && lastAt < start + MINUTE);
    groups.set(name, {
      isMixed: (known?.isMixed ?? false) || isMixed,
      source,
      cause: reason,
      unit: 'requests',
      count: (known?.count ?? 0) + of(lately),
      sinceAccepted: (known?.sinceAccepted ?? 0) + of(sinceAccepted),
      first: Math.min(
        known?.first ?? Number.POSITIVE_INFINITY,
        ...[...lately, ...sinceAccepted].map(([start]) => start),
      ),
    });
  }
  return [...groups.values()].filter(({ count }) => count > 0);
}

/** Whether a minute that began at `start` counts among the refusals of the last hour. */
export function isOfLastHour(start: number, now: number): boolean {
  return start >= now - 3_600_000;
}

/** Accepted callbacks of a source; of all sources for requests without one. */
function acceptedBy({ accepted }: CallbackFacts, source: string | null) {
  const own = source === null ? [...accepted.values()] : [accepted.get(source) ?? NONE];
  return {
    jobs: own.reduce((sum, { jobs }) => sum + jobs, 0),
    requests: own.reduce((sum, { requests }) => sum + requests, 0),
    lastAt: Math.max(Number.NEGATIVE_INFINITY, ...own.map(({ lastAt }) => lastAt)),
  };
}
const NONE = { jobs: 0, requests: 0, lastAt: Number.NEGATIVE_INFINITY };

/** A source gets an issue of its own if its level is worse than that of all sources, because a busy source would hide a silent one. */
function missedIssues({ missed, daySince }: CallbackFacts): Issue[] {
  const { bySource, ...all } = missed;
  const since = new Date(daySince).toISOString();
  const overall = missedLevel(all);
  return [{ source: null, ...all }, ...bySource].flatMap(({ source, jobs, ofJobs, lastHour, lastJob }) => {
    const level = missedLevel({ jobs, ofJobs, lastHour });
    if (level === null || (source !== null && overall !== null && rankOf(level) <= rankOf(overall)))
      return [];
    return [
      issueOf(
        'callbacks-missed',
        { source, missed: jobs, jobs: ofJobs, lastHour, job: lastJob, since },
        level,
      ),
    ];
  });
}

const rankOf = (level: IssueLevel) => LEVELS.indexOf(level);

/** Warning: five, and 1 % of the last day. Failing: five and 20 %, with some in the last hour. */
function missedLevel({ jobs, ofJobs, lastHour }: Omit<MissedFigures, 'lastJob'>): IssueLevel | null {
  const share = ofJobs === 0 ? 0 : jobs / ofJobs;
  if (jobs < FEW || share < SHARE_MISSED.warning) return null;
  return share >= SHARE_MISSED.failing && lastHour > 0 ? 'failing' : 'warning';
}
