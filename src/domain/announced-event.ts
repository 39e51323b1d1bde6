import type { LedgerLine } from './delivery.js';
import { isFailedStatus, isJobId, isUnsuccessful } from './job.js';

/** Events about jobs, as `subscribers.<name>.events` has them. */
export type JobEventName = 'job.stored' | 'job.failed' | 'job.erased';

/** Outcomes that announce nothing: they are not the end of a job. A refused line can repeat the id of a stored job. */
const NO_EVENT: readonly string[] = [
  'refused',
  'replayed',
  'cancelled',
  'acknowledged',
  'release-failed',
  'dismissed',
  'reconcile-started',
];

type Facts = Pick<LedgerLine, 'jobId' | 'outcome' | 'status' | 'reason' | 'items'>;

/** The event that a ledger line announces; null when it announces none. The table is in docs/decisions/outbox.md. */
export function announcedEvent(line: Facts): JobEventName | null {
  return isRepetition(line) ? null : eventOfLine(line);
}

/** Whether a line only says that everything was stored before: the line that stored it announced it, if there is one. */
export function isRepetition({ outcome, status, items }: Facts): boolean {
  if (outcome === 'duplicate') return true;
  if (outcome === 'unrecoverable' || isFailedStatus(status)) return false;
  return items.length > 0 && items.every((item) => item.outcome === 'identical');
}

/** Whether something was stored that was not there before. */
export function hasNewItems(items: Facts['items']): boolean {
  return items.some(({ outcome }) => outcome === 'created' || outcome === 'conflict');
}

/** Like `announcedEvent`, but repetitions have an event too. */
export function eventOfLine({ jobId, outcome, status, reason, items }: Facts): JobEventName | null {
  // A ledger that was edited by hand may hold any text. The id becomes a part of keys.
  if (jobId === null || !isJobId(jobId) || NO_EVENT.includes(outcome)) return null;
  // A recovery that stored some items of a job and failed to get the others announces those: the next recovery finds them in place.
  if (outcome === 'failed' && !hasNewItems(items)) return null;
  // A late callback of an erased job: its end was announced.
  if (outcome === 'noted' && reason === 'erased') return null;
  if (outcome === 'erased') return 'job.erased';
  if (isFailedStatus(status)) return 'job.failed';
  if (outcome === 'unrecoverable') return 'job.failed';
  if (items.some((item) => item.outcome !== 'read')) return 'job.stored';
  return outcome === 'noted' && isUnsuccessful(status) ? 'job.failed' : null;
}
