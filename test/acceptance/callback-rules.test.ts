import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.js';
import type { CallbackStatus, NotificationConfig } from '../../src/speech/wire.js';
import { ledgerOf } from '../support/ledger/ledger-of.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

/*
 * The service's rules of callbacks, sent by the simulator and stored by the receiver. The first simulator keeps to the
 * specification, the second sends the other variant wherever there is one.
 */

const TOKEN = 'X-Callback-Token: correct-horse-battery-staple';
let service: RunningService;
let strict: Simulator;
let variant: Simulator;

beforeAll(async () => {
  service = await startService({
    sources: { default: {}, guarded: { credentials: { main: { headers: [TOKEN] } } } },
  });
  const options = { regions: { eu1: 0 }, timeScale: 0.001 };
  strict = await createSimulator({ ...options, seed: 'strict' });
  variant = await createSimulator({
    ...options,
    seed: 'variant',
    notifier: {
      absentContents: 'data_file',
      loneData: 'raw',
      errorBody: 'remaining',
      partTypes: 'true',
      framing: 'chunked',
    },
  });
});

afterAll(async () => {
  await Promise.all([strict.close(), variant.close()]);
  await service.stop();
});

interface Acknowledgement {
  readonly items: readonly { readonly kind: string; readonly sha256: string; readonly outcome: string }[];
}

interface Sent {
  readonly contents?: readonly string[] | undefined;
  readonly outcome?: CallbackStatus;
  readonly entries?: readonly Partial<NotificationConfig>[];
}

/** Runs a job; gives what the receiver acknowledged of each callback that it answered. */
async function deliver(simulator: Simulator, { contents, outcome = 'success', entries = [{}] }: Sent) {
  const { id, notified } = simulator.submit({
    config: {
      type: 'transcription',
      notification_config: entries.map((entry) => ({
        url: `${service.publicUrl}/callbacks/default`,
        ...(contents === undefined ? {} : { contents }),
        ...entry,
      })),
    },
    outcome,
    mediaBytes: 20_001,
  });
  const outcomes = await notified;
  const answers = simulator.deliveries.ofJob(id).map(({ answer }) => ({
    status: answer?.status,
    items: answer?.status === 200 ? (JSON.parse(answer.body) as Acknowledgement).items : [],
  }));
  return { id, outcomes, answers };
}

const kindOf = (token: string) => (token === 'transcript' ? 'transcript.json-v2' : token);

/** Every item is stored with the service's bytes. */
async function expectStored(simulator: Simulator, sent: Sent, kinds: readonly string[]): Promise<void> {
  const { id, outcomes, answers } = await deliver(simulator, sent);
  expect(outcomes).toEqual(['delivered']);
  expect(answers).toHaveLength(1);
  const items = answers[0]?.items ?? [];
  expect(items.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
  for (const { kind, sha256, outcome } of items) {
    expect([kind, outcome]).toEqual([kind, 'created']);
    expect(sha256).toBe(await simulator.expected(id)[kind as 'data'].sha256());
  }
}

describe('the receiver stores', () => {
  it.each(['transcript', 'transcript.json-v2', 'jobinfo', 'transcript.txt', 'transcript.srt'])(
    // Rule: Notification configuration: `transcript` means `transcript.json-v2`
    // Rule: Notification configuration: `jobinfo` is the submitted configuration
    // Rule: Callback request: status `success`
    // Rule: Body rules: one of `transcript`, `transcript.json-v2`, `jobinfo`: `application/json`
    // Rule: Body rules: one of `transcript.srt`, `transcript.txt`: `text/plain`
    'a lone %s, sent as the body itself',
    (token) => expectStored(strict, { contents: [token] }, [kindOf(token)]),
  );

  // Rule: Body rules: `data` alone: `multipart/form-data`
  // Rule: Contradictions: lone `data`: a form, or the bytes
  it('a lone data, sent as a form of one attachment', () =>
    expectStored(strict, { contents: ['data'] }, ['data']));

  // Rule: Body rules: a single item is the body, also `data`
  // Rule: Contradictions: lone `data`: a form, or the bytes
  it('a lone data, sent as the body itself', () => expectStored(variant, { contents: ['data'] }, ['data']));

  it.each([
    [['transcript', 'jobinfo']],
    [['data', 'transcript.srt']],
    [['transcript', 'transcript.txt', 'transcript.srt', 'jobinfo', 'data']],
    // Rule: Notification configuration: `contents`: `transcript`, `transcript.json-v2`, `transcript.txt`, `transcript.srt`, `data`, `jobinfo`
    // Rule: Body rules: several items: `multipart/form-data`
    // Rule: Silences: framing of callbacks, encodings, delivery ids, order
  ])('several items, one attachment each: %j', async (contents) => {
    await expectStored(strict, { contents }, contents.map(kindOf));
    await expectStored(variant, { contents }, contents.map(kindOf));
  });

  // Rule: Notification configuration: `contents` is empty by default
  // Rule: Body rules: empty `contents`: no body
  // Rule: Contradictions: no `contents`: empty, or attachment `data_file`
  it('id and status alone, for contents that are empty or absent', async () => {
    await expectStored(strict, { contents: [] }, []);
    await expectStored(strict, {}, []);
  });

  // Rule: Contradictions: no `contents`: empty, or attachment `data_file`
  it('the transcript as one attachment named data_file, for contents that are absent', () =>
    expectStored(variant, {}, ['transcript.json-v2']));

  it.each<CallbackStatus>(['error', 'fetch_error', 'trim_error'])(
    // Rule: Callback request: one per entry of failed jobs
    // Rule: Callback request: status `error`, `fetch_error`, `trim_error`
    // Rule: Body rules: on error only `jobinfo`
    // Rule: Contradictions: failed job: `jobinfo`, or the existing items
    'only jobinfo of a job that ended with %s',
    async (outcome) => {
      await expectStored(strict, { contents: ['transcript', 'data', 'jobinfo'], outcome }, ['jobinfo']);
      await expectStored(variant, { contents: ['transcript', 'jobinfo'], outcome }, ['jobinfo']);
      await expectStored(variant, { contents: ['transcript', 'data'], outcome }, []);
      const statuses = (await ledgerOf(service.folder)).map(({ status }) => status);
      expect(statuses).toContain(outcome);
    },
  );

  // Rule: Notification configuration: `method`: `POST` (default) or `PUT`
  // Rule: Delivery: a 2xx ends the delivery
  it.each(['POST', 'PUT'])('what comes by %s', (method) =>
    expectStored(strict, { contents: ['transcript'], entries: [{ method }] }, ['transcript.json-v2']),
  );
});

describe('the receiver answers', () => {
  // Rule: Callback request: one per entry of done jobs
  // Rule: Callback request: callbacks come in parallel, unordered
  it('each of three callbacks of a job by itself, in any order', async () => {
    const { outcomes, answers } = await deliver(strict, {
      entries: [{ contents: ['transcript'] }, { contents: ['data', 'transcript.txt'] }, { contents: [] }],
    });
    expect(outcomes).toEqual(['delivered', 'delivered', 'delivered']);
    expect(answers.flatMap(({ items }) => items.map(({ kind }) => kind)).sort()).toEqual([
      'data',
      'transcript.json-v2',
      'transcript.txt',
    ]);
  });

  // Rule: Authentication: callbacks: by `auth_headers`
  // Rule: Callback request: `auth_headers` are sent
  // Rule: Delivery: other answers are retried, also 5xx and 413
  it('2xx to the auth_headers of the source, and 401 to others until the service gives up', async () => {
    const url = `${service.publicUrl}/callbacks/guarded`;
    const right = await deliver(strict, { entries: [{ url, auth_headers: [TOKEN] }] });
    expect([right.outcomes, right.answers.map(({ status }) => status)]).toEqual([['delivered'], [200]]);
    const wrong = await deliver(strict, { entries: [{ url, auth_headers: ['X-Callback-Token: other'] }] });
    expect(wrong.outcomes).toEqual(['failed']);
    expect(wrong.answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(strict.job(wrong.id)?.errors).toHaveLength(5);
  });

  // Rule: Delivery: a missing answer is retried
  // Rule: Silences: framing of callbacks, encodings, delivery ids, order
  it('a callback that comes again as a duplicate, and stores it once', async () => {
    strict.faults.add({ kind: 'duplicate', times: 1 });
    const { answers } = await deliver(strict, { contents: ['transcript', 'data'] });
    expect(answers.map(({ items }) => items.map(({ outcome }) => outcome))).toEqual([
      ['created', 'created'],
      ['identical', 'identical'],
    ]);
  });

  // Rule: Delivery: a missing answer is retried
  it('a callback that broke off when it is sent again, whole', async () => {
    strict.faults.add({ kind: 'cut', times: 1 });
    const { outcomes, answers } = await deliver(strict, { contents: ['data', 'jobinfo'] });
    expect([outcomes, answers.map(({ status }) => status)]).toEqual([['delivered'], [undefined, 200]]);
  });
});
