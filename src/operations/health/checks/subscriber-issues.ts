import type { SubscriberFigures } from '../../answers/subscribers.js';
import { issueOf } from '../../issues/issue-kinds.js';
import type { Issue } from '../../issues/issues.js';

/** What the verdict needs to know of a subscriber. */
type SubscriberFacts = Pick<
  SubscriberFigures,
  'name' | 'stateDamaged' | 'lagSeconds' | 'dead' | 'openSince' | 'lastError' | 'lastSentAt'
>;

/** Seconds. Retries of single events take minutes; an address that is down for longer needs people. */
const LAGGING = 15 * 60;

export function subscriberIssues(
  { name: subscriber, stateDamaged, lagSeconds, dead, openSince, lastError, lastSentAt }: SubscriberFacts,
  now: number,
): Issue[] {
  // An operator's replay shows that the address works before the sender tries it again: that may be the next event.
  const works = lastSentAt !== null && lastSentAt > (lastError?.at ?? openSince ?? '');
  const since = new Date(now - lagSeconds * 1000).toISOString();
  // What failed before the oldest event came holds it up by a pause only.
  const isFailing = openSince !== null || (lastError?.at ?? '') >= since;
  const { status = null, error = null } = (isFailing ? lastError : null) ?? {};
  return [
    ...(stateDamaged ? [issueOf('subscriber-state-damaged', { subscriber })] : []),
    ...(lagSeconds > LAGGING ? [issueOf('subscriber-lagging', { subscriber, since, status, error })] : []),
    ...(dead > 0 ? [issueOf('events-dead', { subscriber, events: dead })] : []),
    ...(openSince !== null && !works && lagSeconds <= LAGGING
      ? [issueOf('subscriber-paused', { subscriber, since: openSince, status, error })]
      : []),
  ];
}
