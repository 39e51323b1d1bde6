import type { SenderRefusals } from '../../../domain/summary-figures.js';
import type { CallbackCounts } from '../../../index/queries/count-callbacks.js';
import { issueOf } from '../issue-kinds.js';
import type { Issue, IssueLevel } from '../issues.js';

/** What the verdict needs to know of callbacks. */
export interface CallbackFacts
  extends Pick<CallbackCounts, 'hourSince' | 'daySince' | 'accepted' | 'refused' | 'missed'> {
  /** Refusals of the last hour, counted by all replicas. */
  readonly unauthenticated: readonly SenderRefusals[];
}

/** Jobs or requests below which nothing is an issue: a stray request is none. */
const FEW = 5;
/** Shares of all jobs or requests. */
const SHARE_REFUSED = 0.1;
const SHARE_MISSED = { warning: 0.01, failing: 0.2 };
/** Milliseconds without an accepted callback after which a source receives nothing. */
const NONE_ACCEPTED = 5 * 60_000;

export function callbackIssues(facts: CallbackFacts, now: number): Issue[] {
  return [...refusedIssues(facts, now), ...missedIssues(facts)];
}

/** What one source refused for one reason within the last hour. */
interface Refused {
  readonly source: string | null;
  readonly cause: string;
  /** Unauthenticated requests name no job that could be believed. */
  readonly unit: 'jobs' | 'requests';
  readonly count: number;
  /** Requests after the last accepted callback. */
  readonly sinceAccepted: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
}

function refusedIssues(facts: CallbackFacts, now: number): Issue[] {
  const groups = [...authenticated(facts), ...unauthenticated(facts)];
  return groups
    .sort((one, other) => other.count - one.count)
    .flatMap(({ source, cause, unit, count, sinceAccepted, first }) => {
      const { lastAt, [unit]: accepted } = acceptedBy(facts, source);
      const level = levelOf({ count, accepted, sinceAccepted, quietFor: now - lastAt });
      if (level === null) return [];
      const params = { source, cause, unit, refused: count, accepted, since: new Date(first).toISOString() };
      return [issueOf('callbacks-refused', params, level)];
    });
}

interface RefusalFigures {
  readonly count: number;
  readonly accepted: number;
  readonly sinceAccepted: number;
  /** Milliseconds since the last accepted callback. */
  readonly quietFor: number;
}

/** Five and a tenth of the last hour warn; five and none accepted for five minutes fail. */
function levelOf({ count, accepted, sinceAccepted, quietFor }: RefusalFigures): IssueLevel | null {
  if (sinceAccepted >= FEW && quietFor >= NONE_ACCEPTED) return 'failing';
  return count >= FEW && count / (count + accepted) >= SHARE_REFUSED ? 'warning' : null;
}

function authenticated({ refused }: CallbackFacts): Refused[] {
  return refused.map(({ reason, ...group }) => ({ ...group, unit: 'jobs', cause: reason ?? 'internal' }));
}

function unauthenticated(facts: CallbackFacts): Refused[] {
  const groups = new Map<string, Refused>();
  for (const { source, reason, minutes } of facts.unauthenticated) {
    const { lastAt } = acceptedBy(facts, source);
    const name = `${reason} ${source}`;
    const known = groups.get(name);
    const of = (counted: typeof minutes) => counted.reduce((sum, [, count]) => sum + count, 0);
    groups.set(name, {
      ...{ source, cause: reason, unit: 'requests' },
      count: (known?.count ?? 0) + of(minutes),
      // A minute with an accepted callback counts as before it.
      sinceAccepted: (known?.sinceAccepted ?? 0) + of(minutes.filter(([start]) => start > lastAt)),
      first: Math.min(known?.first ?? Number.POSITIVE_INFINITY, ...minutes.map(([start]) => start)),
    });
  }
  return [...groups.values()];
}

/** What a source accepted; what all sources did, for requests to none. */
function acceptedBy({ accepted }: CallbackFacts, source: string | null) {
  const own = source === null ? [...accepted.values()] : [accepted.get(source) ?? NONE];
  return {
    jobs: own.reduce((sum, { jobs }) => sum + jobs, 0),
    requests: own.reduce((sum, { requests }) => sum + requests, 0),
    lastAt: Math.max(Number.NEGATIVE_INFINITY, ...own.map(({ lastAt }) => lastAt)),
  };
}
const NONE = { jobs: 0, requests: 0, lastAt: Number.NEGATIVE_INFINITY };

/** Five and 1 % of the last day warn; five and 20 % fail while the last hour still misses some. */
function missedIssues({ missed, daySince }: CallbackFacts): Issue[] {
  const { jobs, ofJobs, lastHour, lastJob } = missed;
  const share = ofJobs === 0 ? 0 : jobs / ofJobs;
  if (jobs < FEW || share < SHARE_MISSED.warning) return [];
  const level = share >= SHARE_MISSED.failing && lastHour > 0 ? 'failing' : 'warning';
  const params = {
    missed: jobs,
    jobs: ofJobs,
    lastHour,
    job: lastJob,
    since: new Date(daySince).toISOString(),
  };
  return [issueOf('callbacks-missed', params, level)];
}
