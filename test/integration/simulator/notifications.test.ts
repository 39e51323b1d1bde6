import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import type { NotificationConfig } from '../../../src/speech/wire.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';

let simulator: Simulator;
let receiver: RecordingServer;
let answers: number[] = [];

beforeEach(async () => {
  answers = [];
  receiver = await recordingServer((index) => answers[index] ?? 200);
  simulator = await createSimulator({ regions: { eu1: 0 }, seed: 'notifications', timeScale: 0.001 });
});

afterEach(async () => {
  await simulator.close();
  await receiver.close();
});

async function notify(
  ...entries: Partial<NotificationConfig>[]
): Promise<{ id: string; outcomes: string[] }> {
  const { id, notified } = simulator.submit({
    config: {
      type: 'transcription',
      notification_config: entries.map((entry) => ({
        url: receiver.url,
        contents: ['transcript'],
        ...entry,
      })),
    },
  });
  return { id, outcomes: await notified };
}

describe('a notification', () => {
  // Rule: Callback request: `id` and `status` in the query
  it('appends id and status to the query that is there, and leaves that as it is', async () => {
    const { id } = await notify({ url: `${receiver.url}/callbacks/a?x=1&y=%2F+z&x=2` });
    expect(receiver.requests[0]?.url).toBe(`/callbacks/a?x=1&y=%2F+z&x=2&id=${id}&status=success`);
  });

  // Rule: Authentication: callbacks: by `auth_headers`
  // Rule: Notification configuration: `auth_headers`: complete header lines
  // Rule: Callback request: `auth_headers` are sent
  // Rule: Callback request: `user-agent` ends in `-API/2.0`
  it('carries every header line of the submitter and the user agent of the service', async () => {
    await notify({ auth_headers: ['Authorization: Bearer s3cret: x', 'X-Tenant: one', 'X-Tenant: two'] });
    const [request] = receiver.requests;
    expect(request?.headers.authorization).toBe('Bearer s3cret: x');
    const tenants = request?.rawHeaders.filter((_, index, raw) => raw[index - 1] === 'X-Tenant');
    expect(tenants).toEqual(['one', 'two']);
    expect(request?.headers['user-agent']).toBe('speech-API/2.0');
  });

  it.each([
    [undefined, 'POST'],
    ['POST', 'POST'],
    ['PUT', 'PUT'],
    ['put', 'PUT'],
    // Rule: Notification configuration: `method`: `POST` (default) or `PUT`
    // Rule: Contradictions: `method` in upper or lower case
  ])('with method %s is sent with %s', async (method, sent) => {
    await notify(method === undefined ? {} : { method });
    expect(receiver.requests[0]?.method).toBe(sent);
  });

  // Rule: Callback request: one per entry of done jobs
  // Rule: Callback request: callbacks come in parallel, unordered
  // Rule: Callback request: some may arrive, others fail
  it('notifies up to three entries in parallel, each independently', async () => {
    const dead = await recordingServer();
    await dead.close();
    const { id, outcomes } = await notify({}, { url: `${dead.url}/gone` }, { contents: [] });
    expect(outcomes).toEqual(['delivered', 'failed', 'delivered']);
    expect(receiver.requests).toHaveLength(2);
    const first = simulator.deliveries.ofJob(id).filter(({ attempt }) => attempt === 1);
    expect(first).toHaveLength(3);
  });

  // Rule: Job record: `errors`: `message`, `timestamp` per failed callback
  // Rule: Delivery: a 2xx ends the delivery
  // Rule: Delivery: other answers are retried, also 5xx and 413
  // Rule: Delivery: each failure is an entry of `errors`
  // Rule: HTTP errors: 413 is retried
  it('is retried until a 2xx, each failed attempt on the job record', async () => {
    answers = [500, 413, 204];
    const { id, outcomes } = await notify({});
    expect(outcomes).toEqual(['delivered']);
    expect(simulator.job(id)?.errors?.map(({ message }) => message)).toEqual([
      'Error in sending notification: unable to send notification: Response status: 500, retrying',
      'Error in sending notification: unable to send notification: Response status: 413, retrying',
    ]);
    expect(simulator.job(id)?.errors?.[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  // Rule: Callback request: a job stays `done` whatever its callbacks do
  // Rule: Delivery: the last entry says that sending failed
  // Rule: Delivery: the API keeps the transcript
  // Rule: Silences: retries and time-out
  it('is given up at the threshold, and the job stays done', async () => {
    answers = [503, 503, 503, 503];
    const { id, outcomes } = await notify({});
    expect(outcomes).toEqual(['failed']);
    expect(receiver.requests).toHaveLength(4);
    const errors = simulator.job(id)?.errors ?? [];
    expect(errors).toHaveLength(5);
    expect(errors.at(-1)?.message).toBe('Sending notification failed');
    expect(simulator.job(id)?.status).toBe('done');
  });

  // Rule: Delivery: a redirect is not 2xx
  it('treats a redirect as a failure', async () => {
    answers = [308];
    expect((await notify({})).outcomes).toEqual(['delivered']);
    expect(receiver.requests).toHaveLength(2);
  });

  it('names the address in the recorded error of a refused connection, as the service does', async () => {
    const { id, outcomes } = await notify({ url: 'http://127.0.0.1:1/cb?token=t' });
    expect(outcomes).toEqual(['failed']);
    expect(simulator.job(id)?.errors?.[0]?.message).toContain(
      `Post "http://127.0.0.1:1/cb?token=t&id=${id}&status=success": connect: connection refused`,
    );
  });
});

describe('faults of notifications', () => {
  it('drop: is never sent nor recorded', async () => {
    simulator.faults.add({ kind: 'drop' });
    const { id, outcomes } = await notify({});
    expect(outcomes).toEqual(['dropped']);
    expect(receiver.requests).toHaveLength(0);
    expect(simulator.job(id)?.errors).toBeUndefined();
  });

  // Rule: Delivery: a missing answer is retried
  it('unreachable: fails once, is recorded, and arrives by retry', async () => {
    simulator.faults.add({ kind: 'unreachable' });
    const { id, outcomes } = await notify({});
    expect(outcomes).toEqual(['delivered']);
    expect(simulator.job(id)?.errors).toHaveLength(1);
  });

  it('duplicate: arrives again with the same bytes', async () => {
    simulator.faults.add({ kind: 'duplicate' });
    const { id } = await notify({});
    expect(receiver.requests).toHaveLength(2);
    expect(new Set(receiver.requests.map(({ body }) => body.toString('hex'))).size).toBe(1);
    expect(simulator.deliveries.ofJob(id).map(({ copy }) => copy)).toEqual([false, true]);
  });

  // Rule: Delivery: a missing answer is retried
  it('cut: the body ends early, then comes whole', async () => {
    simulator.faults.add({ kind: 'cut', share: 0.9 });
    const { id, outcomes } = await notify({ contents: ['transcript', 'data'] });
    expect(outcomes).toEqual(['delivered']);
    // The receiver may notice the end of the first connection after the whole body of the second.
    const cut = receiver.requests.find(({ whole }) => !whole);
    expect(receiver.requests).toHaveLength(2);
    expect(cut?.body.length).toBeGreaterThan(0);
    expect(simulator.job(id)?.errors).toHaveLength(1);
  });

  it('strikes the same share of the same jobs whenever the seed is the same', async () => {
    simulator.faults.add({ kind: 'drop', rate: 0.3 });
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => notify({})));
    const dropped = outcomes.filter(({ outcomes: [one] }) => one === 'dropped').map(({ id }) => id);
    expect(dropped.length).toBeGreaterThan(30);
    expect(dropped.length).toBeLessThan(90);
    const again = await createSimulator({ regions: { eu1: 0 }, seed: 'notifications', timeScale: 0.001 });
    again.faults.add({ kind: 'drop', rate: 0.3 });
    const repeated = Array.from({ length: 200 }, () =>
      again.submit({ config: { type: 'transcription', notification_config: [{ url: receiver.url }] } }),
    );
    const settled = await Promise.all(
      repeated.map(async ({ id, notified }) => ({ id, outcome: (await notified)[0] })),
    );
    await again.close();
    expect(settled.filter(({ outcome }) => outcome === 'dropped').map(({ id }) => id)).toEqual(dropped);
  });
});
