import { issueOf } from '../issue-kinds.js';
import type { Issue } from '../issues.js';

/** What the verdict needs to know of a subscriber. */
export interface SubscriberFacts {
  readonly name: string;
  /** State of the subscriber cannot be read, so its progress is unknown. */
  readonly stateDamaged: boolean;
  /** Age of the oldest event that is not sent yet. */
  readonly lagSeconds: number;
  /** Events that ended without being sent. */
  readonly dead: number;
  /** ISO 8601: since when nothing is sent but single attempts, because the address fails; null while it works. */
  readonly openSince: string | null;
  readonly lastError: {
    /** ISO 8601. */
    readonly at: string;
    readonly status: number | null;
    readonly error: string | null;
  } | null;
  /** ISO 8601: when an event was last accepted, whichever process sent it. */
  readonly lastSentAt: string | null;
}

/** Seconds. Retries of single events take minutes; an address that is down for longer needs people. */
const LAGGING = 15 * 60;

export function subscriberIssues(
  { name: subscriber, stateDamaged, lagSeconds, dead, openSince, lastError, lastSentAt }: SubscriberFacts,
  now: number,
): Issue[] {
  const { status = null, error = null } = lastError ?? {};
  // An operator's replay shows that the address works before the sender tries it again: that may be the next event.
  const works = lastSentAt !== null && lastSentAt > (lastError?.at ?? openSince ?? '');
  const since = new Date(now - lagSeconds * 1000).toISOString();
  return [
    ...(stateDamaged ? [issueOf('subscriber-state-damaged', { subscriber })] : []),
    ...(lagSeconds > LAGGING ? [issueOf('subscriber-lagging', { subscriber, since, status, error })] : []),
    ...(dead > 0 ? [issueOf('events-dead', { subscriber, events: dead })] : []),
    ...(openSince !== null && !works && lagSeconds <= LAGGING
      ? [issueOf('subscriber-paused', { subscriber, since: openSince, status, error })]
      : []),
  ];
}
