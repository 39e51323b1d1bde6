import { isUnsuccessful } from '../../domain/job.js';
import type { JobEvent, ReceiverEvent } from '../receiver-event.js';

/** Format of requests: the event itself, or a message for people. */
export type EventFormat = 'cloudevents' | 'slack';

interface EventBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

export function eventBody(event: ReceiverEvent, format: EventFormat): EventBody {
  return format === 'slack'
    ? { contentType: 'application/json', bytes: Buffer.from(JSON.stringify({ text: slackText(event) })) }
    : { contentType: 'application/cloudevents+json', bytes: Buffer.from(JSON.stringify(event)) };
}

/** `&`, `<` and `>` are control characters of Slack: https://api.slack.com/reference/surfaces/formatting#escaping */
function slackText(event: ReceiverEvent): string {
  return messageOf(event).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function messageOf(event: ReceiverEvent): string {
  switch (event.type) {
    case 'transcript-receiver.health.opened.v1': {
      const { level, text, remedy, store } = event.data;
      const what = remedy === null ? text : `${text} ${remedy}`;
      return `${level === 'failing' ? ':rotating_light: Act now' : ':warning: Needs attention'}: ${what} (${store})`;
    }
    case 'transcript-receiver.health.closed.v1':
      return `:white_check_mark: Over: ${event.data.text} (${event.data.store})`;
    case 'transcript-receiver.test.v1':
      return event.data.text;
    default:
      return jobMessage(event);
  }
}

/** The job's end first, then the outcome of its items: a failed job may have stored its jobinfo. */
function jobMessage({ type, data: { jobId, source, status, outcome } }: JobEvent): string {
  const job = `Job ${jobId}${source === null ? '' : ` of ${source}`}`;
  switch (type) {
    case 'transcript-receiver.job.failed.v1':
      return `:x: ${job} failed${status === null ? '' : ` with the status ${status}`} (${outcome})`;
    case 'transcript-receiver.job.erased.v1':
      return `${job} was erased`;
    case 'transcript-receiver.job.stored.v1':
      return `${job}: ${outcome}${isUnsuccessful(status) ? `, with the status ${status}` : ''}`;
  }
}
