import type { JobEvent, ReceiverEvent } from '../receiver-event.js';

/** What a subscriber is sent: the event itself, or a message for people. */
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
  return event.type === 'transcript-receiver.test.v1' ? event.data.text : jobMessage(event);
}

/** Says first what became of the job, then what became of what it brought: a failed job may have stored its jobinfo. */
function jobMessage({ type, data: { jobId, source, status, outcome } }: JobEvent): string {
  const job = `Job ${jobId}${source === null ? '' : ` of ${source}`}`;
  switch (type) {
    case 'transcript-receiver.job.failed.v1':
      return `:x: ${job} failed${status === null ? '' : ` with the status ${status}`} (${outcome})`;
    case 'transcript-receiver.job.erased.v1':
      return `${job} was erased`;
    case 'transcript-receiver.job.stored.v1':
      return status === null || status === 'success'
        ? `${job}: ${outcome}`
        : `${job}: ${outcome}, with the status ${status}`;
  }
}
