import type { ReceiverEvent } from '../receiver-event.js';

/** What a subscriber is sent: the event itself, or a message for people. */
export type EventFormat = 'cloudevents' | 'slack';

export interface EventBody {
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
      return `${level === 'failing' ? ':rotating_light: Act now' : ':warning: Look at this'}: ${what} (${store})`;
    }
    case 'transcript-receiver.health.closed.v1':
      return `:white_check_mark: Over: ${event.data.text} (${event.data.store})`;
    case 'transcript-receiver.test.v1':
      return event.data.text;
    default: {
      const { jobId, source, outcome } = event.data;
      return `Job ${jobId}${source === null ? '' : ` of ${source}`}: ${outcome}`;
    }
  }
}
