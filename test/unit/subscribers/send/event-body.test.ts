import { describe, expect, it } from '@jest/globals';
import type { JobEvent, ReceiverEvent } from '../../../../src/subscribers/receiver-event.js';
import { eventBody } from '../../../../src/subscribers/send/event-body.js';

const BASE = {
  specversion: '1.0',
  id: '1',
  source: '/admin',
  time: '',
  datacontenttype: 'application/json',
} as const;
const TEST: ReceiverEvent = {
  ...BASE,
  type: 'transcript-receiver.test.v1',
  data: { text: 'A test: <b> & "full".' },
};
const textOf = (event: ReceiverEvent) => JSON.parse(eventBody(event, 'slack').bytes.toString());

describe('the body of an event', () => {
  it('is the CloudEvent itself', () => {
    const { contentType, bytes } = eventBody(TEST, 'cloudevents');
    expect(contentType).toBe('application/cloudevents+json');
    expect(JSON.parse(bytes.toString())).toEqual(TEST);
  });

  it('is a message for Slack, with its control characters escaped', () => {
    expect(eventBody(TEST, 'slack').contentType).toBe('application/json');
    expect(textOf(TEST)).toEqual({ text: 'A test: &lt;b&gt; &amp; "full".' });
  });

  it.each<[JobEvent['type'], Partial<JobEvent['data']>, string]>([
    ['transcript-receiver.job.stored.v1', {}, 'Job j2 of intake: stored'],
    [
      'transcript-receiver.job.stored.v1',
      { source: null, status: null, outcome: 'recovered' },
      'Job j2: recovered',
    ],
    [
      'transcript-receiver.job.stored.v1',
      { status: 'partial' },
      'Job j2 of intake: stored, with the status partial',
    ],
    [
      'transcript-receiver.job.failed.v1',
      { status: 'fetch_error' },
      ':x: Job j2 of intake failed with the status fetch_error (stored)',
    ],
    [
      'transcript-receiver.job.failed.v1',
      { status: null, outcome: 'unrecoverable' },
      ':x: Job j2 of intake failed (unrecoverable)',
    ],
    ['transcript-receiver.job.erased.v1', { status: null, outcome: 'erased' }, 'Job j2 of intake was erased'],
  ])('says in Slack what became of the job: %s %j', (type, over, text) => {
    const data: JobEvent['data'] = {
      jobId: 'j2',
      source: 'intake',
      region: null,
      status: 'success',
      origin: 'callback',
      outcome: 'stored',
      context: {},
      items: [],
      ...over,
    };
    expect(textOf({ ...BASE, type, data })).toEqual({ text });
  });
});
