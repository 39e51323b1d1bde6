import { causeOf } from './failure-causes.js';
import { isFailure } from './failure-rules.js';

/** What deliveries can be grouped by, besides `context.<name>`. */
export const SUMMARY_GROUPS = ['hour', 'day', 'cause', 'source', 'outcome', 'region', 'status'] as const;
export type SummaryGroup = (typeof SUMMARY_GROUPS)[number] | `context.${string}`;
/** Groups by a field of the line. */
export type FieldGroup = Exclude<(typeof SUMMARY_GROUPS)[number], 'hour' | 'day' | 'cause'>;

const CONTEXT = 'context.';

export function isSummaryGroup(text: string): text is SummaryGroup {
  return SUMMARY_GROUPS.some((each) => each === text) || contextOfGroup(text) !== null;
}

/** The name of the context that a group is of; null for another group. */
export function contextOfGroup(group: string): string | null {
  return group.startsWith(CONTEXT) && group.length > CONTEXT.length ? group.slice(CONTEXT.length) : null;
}

/** The cause of jobs whose callback did not come, so that recovery had to fetch their results. */
export const MISSED_CAUSE = 'callback-missed';

/** What was wrong with a delivery: a reason, or an outcome that is a fault of itself; null where nothing was. */
export function causeOfDelivery(delivery: {
  readonly outcome: string;
  readonly reason: string | null;
}): string | null {
  const isFault = isFailure(delivery.outcome) || delivery.outcome === 'quarantined';
  return isFault || delivery.reason !== null ? causeOf(delivery) : null;
}
