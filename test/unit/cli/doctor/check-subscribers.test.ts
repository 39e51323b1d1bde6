import { afterEach, describe, expect, it } from '@jest/globals';
import { checkSubscribers } from '../../../../src/cli/doctor/check-subscribers.js';
import type { ReceiverEvent } from '../../../../src/subscribers/receiver-event.js';
import { type RecordingServer, recordingServer } from '../../../support/http/recording-server.js';
import { eventOf, outboxOf, subscriberAt } from '../../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

describe("doctor's check of the subscribers", () => {
  let server: RecordingServer | null = null;
  afterEach(async () => {
    await server?.close();
    server = null;
  });

  async function findingFor(url: string) {
    const outbox = outboxOf(createMemoryStore(), { crm: subscriberAt(url) });
    try {
      const [finding] = await checkSubscribers(
        ['crm'],
        (name, event) => outbox.send(name, event, new AbortController().signal),
        () => 'test-1',
      );
      return finding;
    } finally {
      await outbox.stop();
    }
  }

  it.each([
    [204, 'ok', null],
    [401, 'failed', /secrets of both sides/],
    [404, 'failed', /path of subscribers/],
    [308, 'failed', /Redirects are not followed/],
    [422, 'failed', /every authentic event/],
    [503, 'warning', /log of the subscriber/],
  ] as const)('says of the answer %i: %s', async (status, verdict, advice) => {
    server = await recordingServer(() => status);
    const finding = await findingFor(server.url);
    expect(finding).toMatchObject({ check: 'subscriber crm', verdict });
    expect(finding?.message).toContain(`${status}`);
    if (advice === null) expect(finding?.advice).toBeNull();
    else expect(finding?.advice).toMatch(advice);
    expect(server.requests.map((request) => eventOf<ReceiverEvent>(request))).toMatchObject([
      { id: 'test-1', type: 'transcript-receiver.test.v1' },
    ]);
  });

  it('says what to do about an address that does not answer', async () => {
    const gone = await recordingServer();
    await gone.close();
    expect(await findingFor(gone.url)).toMatchObject({
      verdict: 'failed',
      message: 'It did not answer the test event: ECONNREFUSED.',
      advice: expect.stringContaining('firewall'),
    });
  });

  it('is skipped without subscribers', async () => {
    const send = () => Promise.reject(new Error('nothing to send'));
    const findings = await checkSubscribers([], send, () => '');
    expect(findings).toEqual([expect.objectContaining({ verdict: 'skipped' })]);
  });
});
