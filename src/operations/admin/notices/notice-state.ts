import type { HealthNotice } from '../../../subscribers/receiver-event.js';
import { describeIssue, issueName } from '../../health/describe-issue.js';
import { ISSUES } from '../../health/issue-kinds.js';
import type { Issue } from '../../health/issues.js';

/** Milliseconds that an issue must last before it is announced: it may go by itself. */
export const OPEN_AFTER = 60_000;
/** Milliseconds that an issue must be gone before that is announced, so that a flapping one is announced once. */
export const CLOSE_AFTER = 10 * 60_000;
/** Milliseconds after which a notice that could not be sent is given up. */
const KEPT_FOR = 24 * 3_600_000;

/** A notice on its way to a subscriber. */
interface PendingNotice {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** An issue as one subscriber knows it. Times in milliseconds since the epoch. */
export interface TrackedIssue {
  readonly notice: Omit<HealthNotice, 'store'>;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** `watched`: too short to be announced. */
  readonly state: 'watched' | 'opening' | 'open' | 'closing';
  /** The notice that has to be sent, of `opening` and `closing`. */
  readonly pending: PendingNotice | null;
  /** The subscriber heard of it before, as a warning. */
  readonly announced?: true;
}

/** By the name of the issue. */
export type TrackedIssues = Readonly<Record<string, TrackedIssue>>;

/** What was looked at. */
export interface Seen {
  readonly issues: readonly Issue[];
  /** Whether everything was looked at: an issue that was not looked at is not over. */
  readonly whole: boolean;
}

/** The state after the verdict was read. */
export function afterLook(
  tracked: TrackedIssues,
  { issues, whole }: Seen,
  now: number,
  newId: () => string,
): TrackedIssues {
  const present = new Map(
    issues.flatMap((issue) => (ISSUES[issue.code].notified ? [[issueName(issue), issue]] : [])),
  );
  const next: Record<string, TrackedIssue> = {};
  for (const name of new Set([...Object.keys(tracked), ...present.keys()])) {
    const known = tracked[name];
    const issue = present.get(name);
    const after =
      issue === undefined
        ? known && whileGone(known, whole, now, newId)
        : whilePresent(known ?? watched(issue, now), issue, now, newId);
    if (after !== undefined && !isStale(after, now)) next[name] = after;
  }
  return next;
}

/** The state after a notice was delivered. */
export function afterDelivery(tracked: TrackedIssues, name: string): TrackedIssues {
  const { [name]: known, ...others } = tracked;
  if (known === undefined || known.state === 'closing') return others;
  return { ...others, [name]: { ...known, state: 'open', pending: null } };
}

/** What this replica goes on with once it has the claim: the state in the store, and what it announced without it. */
export function afterTakeOver(own: TrackedIssues, stored: TrackedIssues, now: number): TrackedIssues {
  const seen = Object.entries(stored).map(([name, known]) => [name, { ...known, lastSeen: now }]);
  return { ...own, ...Object.fromEntries(seen) };
}

/**
 * What this replica has left to say once another one has the claim: an issue that it announced while it could not save is
 * over for it.
 *
 * @param saved what the store knew of it last
 */
export function afterOtherReplica(
  own: TrackedIssues,
  saved: TrackedIssues,
  now: number,
  newId: () => string,
): TrackedIssues {
  const orphans = Object.entries(own).flatMap(([name, known]): [string, TrackedIssue][] => {
    if (name in saved || (known.state !== 'open' && known.state !== 'closing')) return [];
    const pending = known.pending ?? { id: newId(), at: now };
    return [[name, { ...known, state: 'closing', pending }]];
  });
  return Object.fromEntries(orphans);
}

function watched(issue: Issue, now: number): TrackedIssue {
  const notice = noticeOf(issue, new Date(now).toISOString());
  return { notice, firstSeen: now, lastSeen: now, state: 'watched', pending: null };
}

function noticeOf(issue: Issue, since: string): TrackedIssue['notice'] {
  const { text, remedy } = describeIssue(issue);
  return { issue: issueName(issue), ...issue, text, remedy, since };
}

function whilePresent(known: TrackedIssue, issue: Issue, now: number, newId: () => string): TrackedIssue {
  const seen = { ...known, lastSeen: now };
  const lasts = known.state === 'watched' && now - known.firstSeen >= OPEN_AFTER;
  // A subscriber that was warned must hear that somebody has to act now.
  const isWorse = known.state === 'open' && issue.level === 'failing' && known.notice.level !== 'failing';
  if (lasts || isWorse) {
    const notice = noticeOf(issue, known.notice.since);
    const announced = isWorse ? { announced: true as const } : {};
    return { ...seen, ...announced, notice, state: 'opening', pending: { id: newId(), at: now } };
  }
  // One that returns while its end is being announced is announced again afterwards: the end may be on its way.
  return seen;
}

/** Undefined once the issue needs no more attention. */
function whileGone(
  known: TrackedIssue,
  whole: boolean,
  now: number,
  newId: () => string,
): TrackedIssue | undefined {
  const gone = now - known.lastSeen;
  if (known.state === 'watched') return gone > OPEN_AFTER ? undefined : known;
  if (!whole) return { ...known, lastSeen: now };
  if (known.state === 'closing' || gone < CLOSE_AFTER) return known;
  // The subscriber never heard of it.
  if (known.state === 'opening' && !known.announced) return undefined;
  return { ...known, state: 'closing', pending: { id: newId(), at: now } };
}

function isStale({ pending }: TrackedIssue, now: number): boolean {
  return pending !== null && now - pending.at > KEPT_FOR;
}
