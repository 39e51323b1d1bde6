import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CONTENT_TOKENS } from '../../../../src/domain/kinds.js';
import { expectationOf } from '../../../../src/recovery/reconcile/expectation.js';
import {
  type Plan,
  planJob,
  requiresArchive,
  type Situation,
} from '../../../../src/recovery/reconcile/plan-job.js';
import type { JobError, JobRecord } from '../../../../src/speech/wire.js';

const MINUTE = 60_000;
const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const SOURCES = { default: { contents: ['transcript'], keyPrefix: '' } };
const URL = 'https://receiver.example/callbacks/default';
const JSON_KEY = 'jobs/job1/transcript.json';
const TXT_KEY = 'jobs/job1/transcript.txt';
const ALL_KEYS = [
  JSON_KEY,
  TXT_KEY,
  'jobs/job1/transcript.srt',
  'jobs/job1/jobinfo.json',
  'jobs/job1/data',
] as const;

interface Case {
  readonly status?: string;
  /** Minutes since its creation. */
  readonly age?: number;
  readonly contents?: readonly string[];
  readonly entries?: number;
  readonly errors?: readonly JobError[];
  readonly present?: readonly string[];
  readonly expired?: readonly string[];
  readonly grace?: number;
}

function situation(given: Case): Situation {
  const { status = 'done', age = 60, errors, present = [], expired = [], grace = 10 * MINUTE } = given;
  const entries = given.entries ?? 1;
  const entry = { url: URL, ...(given.contents ? { contents: given.contents } : {}) };
  const notification_config = Array.from({ length: entries }, () => entry);
  const job: JobRecord = {
    id: 'job1',
    status,
    created_at: new Date(NOW - age * MINUTE).toISOString(),
    data_name: '',
    config: { type: 'transcription', ...(entries > 0 ? { notification_config } : {}) },
    ...(errors ? { errors } : {}),
  };
  const expectation = expectationOf(job, {
    sources: SOURCES,
    publicUrl: null,
    source: entries > 0 ? null : 'default',
    selectedBy: 'operator',
  });
  if (expectation === null) throw new Error('the job should be ours');
  return { job, expectation, present: new Set(present), expired: new Set(expired), now: NOW, grace };
}

function at(minutesAgo: number): string {
  return new Date(NOW - minutesAgo * MINUTE).toISOString();
}

function attempt(minutesAgo: number, status = 503): JobError {
  const message = `Error in sending notification: unable to send notification: Response status: ${status}, retrying`;
  return { message, timestamp: at(minutesAgo) };
}

function givenUp(minutesAgo: number): JobError {
  return { message: 'Sending notification failed', timestamp: at(minutesAgo) };
}

const NOT_OURS: JobError = { message: 'The audio was noisy', timestamp: at(1) };

const TABLE: readonly [name: string, given: Case, step: Plan['step'], missing: readonly string[]][] = [
  ['a running job', { status: 'running', age: 5000 }, 'pending', []],
  ['a done job with everything here', { present: [JSON_KEY] }, 'matched', []],
  ['a young job with everything here', { age: 1, present: [JSON_KEY] }, 'matched', []],
  ['a done job that only notifies', { contents: [] }, 'matched', []],
  ['a done job without its transcript', {}, 'fetch', [JSON_KEY]],
  ['a done job whose transcript has expired', { expired: [JSON_KEY] }, 'expired', [JSON_KEY]],
  [
    'a deleted job whose transcript has expired',
    { status: 'deleted', expired: [JSON_KEY] },
    'expired',
    [JSON_KEY],
  ],
  ['a job of which more is here than has to be', { present: [JSON_KEY], expired: [JSON_KEY] }, 'matched', []],
  [
    'a done job of which a part has expired and another is missing',
    { contents: ['transcript', 'transcript.txt'], expired: [JSON_KEY] },
    'fetch',
    [TXT_KEY],
  ],
  [
    'a done job of which a part is missing',
    { contents: ['transcript', 'transcript.txt'], present: [JSON_KEY] },
    'fetch',
    [TXT_KEY],
  ],
  ['other artefacts than those asked for', { present: [TXT_KEY] }, 'fetch', [JSON_KEY]],
  ['a job younger than grace', { age: 9 }, 'pending', [JSON_KEY]],
  ['a job as old as grace', { age: 10 }, 'fetch', [JSON_KEY]],
  ['a job a little ahead of our clock', { age: -5 }, 'pending', [JSON_KEY]],
  ['a job from far in the future', { age: -60 * 24 * 365 }, 'fetch', [JSON_KEY]],
  ['a callback still being tried', { errors: [attempt(2), attempt(1)] }, 'pending', [JSON_KEY]],
  ['a callback last tried before grace', { errors: [attempt(11)] }, 'fetch', [JSON_KEY]],
  ['a young job given up', { age: 2, errors: [attempt(1), givenUp(1)] }, 'fetch', [JSON_KEY]],
  ['one of two entries given up', { age: 2, entries: 2, errors: [givenUp(1)] }, 'pending', [JSON_KEY]],
  ['both of two given up', { age: 2, entries: 2, errors: [givenUp(1), givenUp(1)] }, 'fetch', [JSON_KEY]],
  ['a young job without entries', { age: 2, entries: 0 }, 'pending', [JSON_KEY]],
  ['errors about something else', { errors: [NOT_OURS] }, 'fetch', [JSON_KEY]],
  ['an error without readable time', { errors: [{ ...attempt(1), timestamp: 'now' }] }, 'fetch', [JSON_KEY]],
  ['a deleted job with something missing', { status: 'deleted' }, 'unrecoverable', [JSON_KEY]],
  ['an expired job with something missing', { status: 'expired' }, 'unrecoverable', [JSON_KEY]],
  ['a young deleted job', { status: 'deleted', age: 1 }, 'unrecoverable', [JSON_KEY]],
  ['an expired job with everything here', { status: 'expired', present: [JSON_KEY] }, 'matched', []],
  ['an unknown status', { status: 'paused' }, 'pending', [JSON_KEY]],
  ['the same with everything here', { status: 'paused', present: [JSON_KEY] }, 'matched', []],
  ['contents the API does not offer', { contents: ['alignment'] }, 'matched', []],
];

describe('the plan for', () => {
  // Rule: Silences: job statuses beside `done`
  // Rule: Callback request: some may arrive, others fail
  // Rule: Delivery: the last entry says that sending failed
  it.each(TABLE)('%s', (_name, given, step, missing) => {
    const plan = planJob(situation(given));
    expect(plan.step).toBe(step);
    expect(plan.missing.map(({ key }) => key)).toEqual(missing);
  });

  // Rule: Job record: `errors`: `message`, `timestamp` per failed callback
  // Rule: Callback request: a job stays `done` whatever its callbacks do
  // Rule: Delivery: each failure is an entry of `errors`
  it('a lost callback says what the service recorded, without its address', () => {
    const secret = { ...attempt(20), message: `Post "https://x/?token=secret": ${attempt(20).message}` };
    const plan = planJob(situation({ errors: [attempt(21, 500), secret, givenUp(20)] }));
    expect(plan.reason).toBe('Sending notification failed (last answer 503)');
    expect(planJob(situation({ errors: [attempt(20, 500)] })).reason).toMatch(/failed to send.*500/);
    expect(planJob(situation({})).reason).toBeNull();
  });

  // Rule: HTTP errors: a failed job has `errors`
  it('an expired job says so, and that its callback had failed', () => {
    const plan = planJob(situation({ status: 'expired', errors: [givenUp(20)] }));
    expect(plan.reason).toBe('the job is expired; Sending notification failed');
  });
});

const anyError = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map((ago) => attempt(ago)),
  fc.constantFrom(givenUp(1), NOT_OURS),
);

const anyCase = fc.record({
  status: fc.constantFrom('running', 'done', 'deleted', 'expired', 'new-status'),
  age: fc.integer({ min: 0, max: 20_000 }),
  contents: fc.uniqueArray(fc.constantFrom(...CONTENT_TOKENS, 'alignment')),
  entries: fc.integer({ min: 1, max: 3 }),
  errors: fc.array(anyError),
  present: fc.uniqueArray(fc.constantFrom(...ALL_KEYS)),
  grace: fc.integer({ min: 0, max: 60 * MINUTE }),
});

describe('any plan', () => {
  it('misses exactly what is expected and absent, and fetches only finished jobs', () => {
    fc.assert(
      fc.property(anyCase, (given) => {
        const asked = situation(given);
        const { step, missing } = planJob(asked);
        const absent = asked.expectation.items.filter(({ key }) => !asked.present.has(key));
        const finished = given.status !== 'running';
        expect(missing).toEqual(finished ? absent : []);
        if (step === 'fetch') expect(given.status).toBe('done');
        if (step === 'unrecoverable') expect(['deleted', 'expired']).toContain(given.status);
        if (finished) expect(step === 'matched').toBe(absent.length === 0);
      }),
    );
  });

  it('only ever waits for a time: without grace no finished job stays pending', () => {
    fc.assert(
      fc.property(anyCase, (given) => {
        const { step } = planJob(situation({ ...given, status: 'done', grace: 0 }));
        expect(step).not.toBe('pending');
      }),
    );
  });

  it('does not depend on the archive where it is not required', () => {
    fc.assert(
      fc.property(anyCase, (given) => {
        const asked = situation(given);
        if (requiresArchive(asked.job, asked.expectation)) return;
        expect(planJob(asked).step).toBe(planJob({ ...asked, present: new Set() }).step);
      }),
    );
  });
});

describe('the reason', () => {
  it('names a time of creation in the future', () => {
    expect(planJob(situation({ age: -60 })).reason).toMatch(
      /created at 2026-03-04T13:00:00.000Z.*in the future/,
    );
    expect(planJob(situation({ age: -10 })).reason).toBeNull();
    expect(planJob(situation({ age: 2, errors: [givenUp(1)] })).reason).toBe('Sending notification failed');
  });

  it.each([
    [{ status: 'running' }, 'the job is still running'],
    [{ status: 'paused' }, "the job's status is paused"],
    [{ age: 1 }, 'the callback may still be in flight'],
    [{ present: [JSON_KEY] }, null],
    [
      { contents: ['alignment', 'tea-leaves'] },
      'not checked, because the API does not offer it: alignment, tea-leaves',
    ],
  ] as const)('of %j is %j', (given, reason) => {
    expect(planJob(situation(given)).reason).toBe(reason);
  });
});

describe('the archive', () => {
  it.each([
    [{}, true],
    [{ status: 'deleted' }, true],
    [{ status: 'paused' }, true],
    [{ status: 'running' }, false],
    [{ contents: [] }, false],
    [{ contents: ['alignment'] }, false],
  ] as const)('is required for %j: %j', (given, required) => {
    const { job, expectation } = situation(given);
    expect(requiresArchive(job, expectation)).toBe(required);
  });
});
