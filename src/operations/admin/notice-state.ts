import type { HealthClosedEvent, HealthNotice, HealthOpenedEvent } from '../../subscribers/receiver-event.js';
import { describeIssue, issueName } from '../issues/describe-issue.js';
import { ISSUES } from '../issues/issue-kinds.js';
import type { Issue } from '../issues/issues.js';

/** Milliseconds that an issue must last before it is announced, because it may be transient. */
export const OPEN_AFTER = 60_000;
/** Milliseconds that an issue must be gone before its end is announced, so that a flapping one is announced once. */
export const CLOSE_AFTER = 10 * 60_000;

/** State of an issue for one subscriber. */
export interface TrackedIssue {
  /** Fixed once it is due, because an event has one content for its id. */
  readonly notice: Omit<HealthNotice, 'store'>;
  /** Milliseconds since the epoch. */
  readonly lastSeen: number;
  /** Level of the last notice delivered; null before the first. */
  readonly told: HealthNotice['level'] | null;
}

/** By the name of the issue. */
export type TrackedIssues = Readonly<Record<string, TrackedIssue>>;

/** Issues of one evaluation of the verdict. */
export interface Seen {
  readonly issues: readonly Issue[];
  /** Whether all facts were known; otherwise an absent issue does not count as over. */
  readonly whole: boolean;
}

/** The state after a verdict. Times in the future, from a clock that was set back since, are not waited for. */
export function updateTracked(tracked: TrackedIssues, { issues, whole }: Seen, now: number): TrackedIssues {
  const next: Record<string, TrackedIssue> = {};
  for (const issue of issues) {
    const name = issueName(issue);
    if (ISSUES[issue.code].notified) next[name] = whilePresent(tracked[name], issue, now);
  }
  for (const [name, known] of Object.entries(tracked)) {
    if (name in next) continue;
    if (known.told !== null) next[name] = { ...known, lastSeen: whole ? Math.min(known.lastSeen, now) : now };
    else if (now - known.lastSeen <= OPEN_AFTER) next[name] = known;
  }
  return next;
}

function whilePresent(known: TrackedIssue | undefined, issue: Issue, now: number): TrackedIssue {
  if (known === undefined || (known.told === null && Date.parse(known.notice.since) > now))
    return { notice: noticeOf(issue, new Date(now).toISOString()), lastSeen: now, told: null };
  const { notice, told } = known;
  // A warning that becomes failing is announced again.
  const isWorse = told !== null && issue.level === 'failing' && notice.level !== 'failing';
  const isDue = told !== null || now - Date.parse(notice.since) >= OPEN_AFTER;
  return { notice: isDue && !isWorse ? notice : noticeOf(issue, notice.since), lastSeen: now, told };
}

function noticeOf(issue: Issue, since: string): TrackedIssue['notice'] {
  const { text, remedy } = describeIssue(issue);
  return { issue: issueName(issue), ...issue, text, remedy, since };
}

/**
 * The event to send; null without one. Its id is derived from the issue, so that it is the same on every retry and every replica.
 *
 * @param store location, so that several installations can be distinguished
 */
export function dueEvent(
  { notice, lastSeen, told }: TrackedIssue,
  store: string,
  now: number,
): HealthOpenedEvent | HealthClosedEvent | null {
  const since = Date.parse(notice.since);
  const isOver = told !== null && now - lastSeen >= CLOSE_AFTER;
  if (!isOver && (told === notice.level || lastSeen - since < OPEN_AFTER)) return null;
  return {
    specversion: '1.0',
    id: `${notice.issue}:${isOver ? `closed:${lastSeen}` : `${notice.level}:${since}`}`,
    type: isOver ? 'transcript-receiver.health.closed.v1' : 'transcript-receiver.health.opened.v1',
    source: '/health',
    subject: notice.issue,
    time: new Date(isOver ? lastSeen + CLOSE_AFTER : since + OPEN_AFTER).toISOString(),
    datacontenttype: 'application/json',
    data: { ...notice, store },
  };
}

/** The state after an event was delivered. */
export function afterDelivery(
  tracked: TrackedIssues,
  { type, data: { issue, level } }: HealthOpenedEvent | HealthClosedEvent,
): TrackedIssues {
  const { [issue]: known, ...others } = tracked;
  if (known === undefined || type === 'transcript-receiver.health.closed.v1') return others;
  return { ...others, [issue]: { ...known, told: level } };
}

/** The stored state for a replica that starts to send. Resets `lastSeen`, so that no issue counts as over at once. */
export function takenOver(stored: TrackedIssues, now: number): TrackedIssues {
  return Object.fromEntries(
    Object.entries(stored).map(([issue, known]) => [issue, { ...known, lastSeen: now }]),
  );
}
