import type { TestEvent } from './receiver-event.js';

/** @param by sender, as the source of the event: `/doctor` or `/admin` */
export function testEvent(id: string, by: string): TestEvent {
  return {
    specversion: '1.0',
    id,
    type: 'transcript-receiver.test.v1',
    source: by,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data: { text: 'A test of transcript-receiver. Nothing has to be done.' },
  };
}
