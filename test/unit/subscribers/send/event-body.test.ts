import { describe, expect, it } from '@jest/globals';
import type { JobEvent, ReceiverEvent } from '../../../../src/subscribers/receiver-event.js';
import { eventBody } from '../../../../src/subscribers/send/event-body.js';

const BASE = {
  specversion: '1.0',
  id: '1',
  source: '/health',
  time: '',
  datacontenttype: 'application/json',
} as const;
const NOTICE = {
  issue: 'store-not-writable',
  topic: 'store',
  level: 'failing',
  code: 'store-not-writable',
  params: {},
  text: 'The store cannot be written: <b> & "full".',
  remedy: 'Free space.',
  since: '2026-03-04T05:06:07.890Z',
  store: 's3://transcripts',
} as const;
const OPENED: ReceiverEvent = { ...BASE, type: 'transcript-receiver.health.opened.v1', data: NOTICE };
const textOf = (event: ReceiverEvent) => JSON.parse(eventBody(event, 'slack').bytes.toString());

describe('the body of an event', () => {
  it('is the CloudEvent itself', () => {
    const { contentType, bytes } = eventBody(OPENED, 'cloudevents');
    expect(contentType).toBe('application/cloudevents+json');
    expect(JSON.parse(bytes.toString())).toEqual(OPENED);
  });

  it('is a message for Slack, with its control characters escaped', () => {
    expect(eventBody(OPENED, 'slack').contentType).toBe('application/json');
    expect(textOf(OPENED)).toEqual({
      text: ':rotating_light: Act now: The store cannot be written: &lt;b&gt; &amp; "full". Free space. (s3://transcripts)',
    });
    const warning: ReceiverEvent = { ...OPENED, data: { ...NOTICE, level: 'warning' } };
    expect(textOf(warning).text).toMatch(/^:warning: Needs attention: /);
    const closed: ReceiverEvent = { ...BASE, type: 'transcript-receiver.health.closed.v1', data: NOTICE };
    expect(textOf(closed).text).toMatch(/^:white_check_mark: Over: The store/);
    const test: ReceiverEvent = { ...BASE, type: 'transcript-receiver.test.v1', data: { text: 'A test.' } };
    expect(textOf(test)).toEqual({ text: 'A test.' });
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
