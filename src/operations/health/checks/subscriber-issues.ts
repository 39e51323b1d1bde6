import type { SubscriberFigures } from '../../answers/subscribers.js';
import { issueOf } from '../../issues/issue-kinds.js';
import type { Issue } from '../../issues/issues.js';

/** Facts about a subscriber for the verdict. */
type SubscriberFacts = Pick<
  SubscriberFigures,
  'name' | 'stateDamaged' | 'lagSeconds' | 'dead' | 'openSince' | 'lastError' | 'lastSentAt'
>;

/** Seconds. Retries of single events take minutes; an address that is down for longer needs an operator. */
const LAGGING = 15 * 60;

export function subscriberIssues(
  { name: subscriber, stateDamaged, lagSeconds, dead, openSince, lastError, lastSentAt }: SubscriberFacts,
  now: number,
): Issue[] {
  // A replay may have proven that the address works before the sender probes it again.
  const works = lastSentAt !== null && lastSentAt > (lastError?.at ?? openSince ?? '');
  const since = new Date(now - lagSeconds * 1000).toISOString();
  // A failure from before the oldest waiting event is not the cause of the lag.
  const isFailing = openSince !== null || (lastError?.at ?? '') >= since;
  const { status = null, error = null } = (isFailing ? lastError : null) ?? {};
  const isLagging = lagSeconds > LAGGING;
  const issues: Issue[] = [];
  if (stateDamaged) issues.push(issueOf('subscriber-state-damaged', { subscriber }));
  if (isLagging) issues.push(issueOf('subscriber-lagging', { subscriber, since, status, error }));
  if (dead > 0) issues.push(issueOf('events-dead', { subscriber, events: dead }));
  if (openSince !== null && !works && !isLagging)
    issues.push(issueOf('subscriber-paused', { subscriber, since: openSince, status, error }));
  return issues;
}
