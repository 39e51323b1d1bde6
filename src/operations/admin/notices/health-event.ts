import type { HealthClosedEvent, HealthOpenedEvent } from '../../../subscribers/receiver-event.js';
import type { TrackedIssue } from './notice-state.js';

/**
 * The event of a notice that is to be sent; null when there is none.
 *
 * @param store location, so that several installations can be distinguished
 */
export function healthEventOf(
  { state, pending, notice }: TrackedIssue,
  store: string,
): HealthOpenedEvent | HealthClosedEvent | null {
  if (pending === null) return null;
  return {
    specversion: '1.0',
    id: pending.id,
    type:
      state === 'closing' ? 'transcript-receiver.health.closed.v1' : 'transcript-receiver.health.opened.v1',
    source: '/health',
    subject: notice.issue,
    time: new Date(pending.at).toISOString(),
    datacontenttype: 'application/json',
    data: { ...notice, store },
  };
}
