import { describe, expect, it } from '@jest/globals';
import { type JobBody, jobState, type KnownJob, unknownJobState } from '../../../src/domain/job-state.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';

const expiredAt = '2026-03-04T05:06:07.089Z';
const expired = (kind: string) => ({ kind, objects: 2, bytes: 10, expiredAt });
const artefact = (kind: string, replaced: string | null = null) => ({
  kind,
  key: `jobs/j1/${kind}`,
  sha256: 'a',
  replaced,
});
const quarantined = ledgerLine({ outcome: 'quarantined', items: [] });
const nothing: KnownJob = {
  jobId: 'j1',
  artefacts: [],
  timeline: [],
  failure: null,
  service: null,
  serviceAnswer: 'unreachable',
  expired: [],
  lost: [],
  erasure: null,
  index: { since: null, until: '2026-03-04T12:00:00.000Z', missing: [] },
};
const shown = (instant: string) => instant;
function stateOf(job: Partial<KnownJob>, bodies: readonly JobBody[] = []) {
  const { steps, ...state } = jobState({ ...nothing, ...job }, bodies, shown);
  return { ...state, repair: steps[0]?.action ?? null };
}
const failed = ledgerLine({ origin: 'recovery', outcome: 'failed', items: [] });

describe('the state of a job of which something expired', () => {
  it.each([
    ['its transcript', { expired: [expired('transcript')] }, 'Expired', /^Transcripts expired at /],
    [
      'its transcript, after a failure that was settled',
      { expired: [expired('transcript')], timeline: [failed] },
      'Expired',
      /./,
    ],
    [
      'its media',
      { expired: [expired('data')], artefacts: [artefact('transcript.txt')] },
      'Stored',
      /is stored\. Media expired at .* \(2 objects\)\.$/,
    ],
    [
      'its media, while the transcript is missing',
      { expired: [expired('data')], timeline: [failed], failure: failed },
      'Missing',
      /failed/,
    ],
  ])('%s', (_what, job, word, text) => {
    const state = stateOf(job);
    expect(state).toMatchObject({ word, text: expect.stringMatching(text) });
    expect(state.repair).toBe(word === 'Missing' ? 'refetch' : null);
  });

  it('a body in quarantine, which can still be fetched', () => {
    const job = { expired: [expired('quarantine')], timeline: [quarantined] };
    const state = stateOf(job);
    expect(state).toMatchObject({ word: 'Expired', repair: 'refetch' });
  });
});

it('a test callback of doctor is no job of the service that failed', () => {
  const timeline = [ledgerLine({ outcome: 'noted', status: 'doctor' })];
  expect(stateOf({ timeline })).toMatchObject({ tone: 'neutral', word: 'Test', repair: null });
});

const waiting = { deliveryId: 'd1', state: 'waiting', settlement: null };

it.each([
  ['a test', 'doctor', 'In quarantine', 'The body could not be decoded and is in quarantine.'],
  [
    'a failure',
    'error',
    'No transcript',
    /^The service reports error.* A body that could not .* waits in quarantine\.$/,
  ],
])('a callback of %s whose body waits says so, as the verdict does', (_what, status, word, text) => {
  const timeline = [ledgerLine({ outcome: 'quarantined', status, items: [] })];
  const said = expect.stringMatching(text);
  expect(stateOf({ timeline }, [waiting])).toEqual({ tone: 'notice', word, text: said, repair: 'refetch' });
});

it('a stored job of which a body still waits says so, as the verdict does', () => {
  const job = { artefacts: [artefact('transcript.txt')], timeline: [quarantined] };
  expect(stateOf(job, [waiting])).toEqual({
    tone: 'good',
    word: 'Stored',
    repair: 'refetch',
    text: 'The transcript is stored. A body that could not be decoded waits in quarantine.',
  });
  const settled = { ...waiting, state: 'settled' };
  expect(stateOf(job, [settled])).toMatchObject({ text: 'The transcript is stored.', repair: null });
});

describe('the state of a job with an open failure', () => {
  const refused = { outcome: 'refused', reason: 'body-too-large', receivedAt: expiredAt };
  const conflict = { outcome: 'conflict', reason: null, receivedAt: expiredAt };
  const transcript = artefact('transcript.txt');
  const version = {
    kind: 'transcript.txt',
    key: 'jobs/j1/conflicts/transcript.txt.0123',
    sha256: 'b',
    replaced: null,
  };
  const acknowledged = ledgerLine({ origin: 'replay', outcome: 'acknowledged' });
  const settled: JobBody = {
    deliveryId: 'd1',
    state: 'settled',
    settlement: { by: 'dismissed', settledAt: expiredAt, actor: 'ops', reason: 'x' },
  };
  const erasure = { erasedAt: expiredAt, complete: true, keptUntil: null };

  it.each<[string, Partial<KnownJob>, string, string, string | null]>([
    ['nothing but it', { failure: refused }, 'bad', 'Missing', 'refetch'],
    ['a loss', { failure: { ...refused, outcome: 'unrecoverable' } }, 'bad', 'Missing', 'import'],
    ['a transcript', { artefacts: [transcript], failure: refused }, 'bad', 'Failing', 'refetch'],
    [
      'an attempt after it',
      { timeline: [ledgerLine({ outcome: 'replayed' })], failure: refused },
      'bad',
      'Missing',
      'refetch',
    ],
    [
      'a status other than success',
      { timeline: [ledgerLine({ status: 'error' })], failure: refused },
      'bad',
      'Missing',
      'refetch',
    ],
    ['a conflict', { artefacts: [transcript, version], failure: conflict }, 'notice', 'Conflict', 'choose'],
    [
      'an acknowledged conflict',
      { artefacts: [transcript, version], timeline: [acknowledged], failure: refused },
      'bad',
      'Failing',
      'refetch',
    ],
    ['an erasure', { erasure, failure: refused }, 'notice', 'Erased', 'acknowledge'],
  ])('and %s', (_what, job, tone, word, repair) => {
    expect(stateOf(job)).toMatchObject({ tone, word, repair });
  });

  it('and of one that was settled', () => {
    expect(stateOf({ failure: refused }, [settled])).toMatchObject({ word: 'Missing' });
    expect(stateOf({ timeline: [failed] }, [settled])).toMatchObject({ word: 'Settled' });
    expect(stateOf({ artefacts: [transcript, version], timeline: [acknowledged] })).toMatchObject({
      word: 'Acknowledged',
    });
    // Lines that the search has not reached say nothing.
    expect(stateOf({ artefacts: [transcript, version] })).toMatchObject({ word: 'Conflict' });
    expect(stateOf({ erasure })).toMatchObject({ tone: 'neutral', word: 'Erased' });
  });
});

describe('the state of a job of which nothing is here', () => {
  it.each([
    ['running', 'Pending', null],
    ['done', 'Missing', 'refetch'],
    ['rejected', 'No transcript', 'refetch'],
    ['expired', 'Missing', 'import'],
  ])('is known from its status at the service: %s', (status, word, repair) => {
    expect(stateOf({ service: { record: { status } } })).toMatchObject({ word, repair });
  });

  it.each(['callback', 'recovery', 'replay'] as const)('%s: a line says that it failed', (origin) => {
    const timeline = [ledgerLine({ origin, outcome: 'noted', status: 'fetch_error' })];
    const errors = [{ message: 'Sending notification failed' }];
    const state = stateOf({ timeline, service: { record: { status: 'rejected', errors } } });
    expect(state).toMatchObject({
      tone: 'notice',
      word: 'No transcript',
      repair: null,
      text: 'The service reports fetch_error: the service could not fetch the media. Submit the job again.',
    });
  });

  it('is not said to have results where the service rejected it', () => {
    const errors = [{ message: 'Error in sending notification: Response status: 401' }];
    const state = stateOf({ service: { record: { status: 'rejected', errors } } });
    expect(state).toMatchObject({
      word: 'No transcript',
      text: expect.stringMatching(/rejected.*answered 401/),
    });
    expect(state.text).not.toMatch(/results/);
    const gone = stateOf({ service: { record: { status: 'expired', errors } } });
    expect(gone.text).not.toMatch(/still has/);
  });

  it.each([
    ['Response status: 401', /answered 401: no credential of the source matches its auth_headers/],
    ['Response status: 413', /answered 413: the body was too large/],
    ['Response status: 502', /answered 502: the receiver, or a proxy in front, could not take it/],
    ['connect: connection refused', /nothing answered at its URL/],
  ])('names why the service gave up the callback: %s', (message, text) => {
    const errors = [{ message: `Error in sending notification: ${message}` }];
    const state = stateOf({ service: { record: { status: 'done', errors } } });
    expect(state).toMatchObject({ word: 'Missing', text: expect.stringMatching(text), repair: 'refetch' });
  });

  it('is not known while the ledger was not searched as a whole', () => {
    const whole = { since: null, until: '2026-03-04T12:00:00.000Z', missing: [] };
    for (const lack of [{ since: '2026-03-01T00:00:00.000Z' }, { until: null }, { missing: [{}] }])
      expect(stateOf({ index: { ...whole, ...lack } })).toMatchObject({
        word: 'Not found yet',
        repair: 'refetch',
      });
    expect(stateOf({})).toMatchObject({ word: 'Nothing stored', repair: 'refetch' });
  });
});

describe('the state of a job of which something was stored and is not there now', () => {
  const storedAt = '2026-03-04T11:22:00.000Z';
  const lost = [{ key: 'jobs/j1/transcript.json', storedAt }];
  const done = { record: { status: 'done' } };
  const timeline = [ledgerLine()];
  const failure = { outcome: 'unrecoverable', reason: null };

  it.each<[string, Partial<KnownJob>, string | null]>([
    ['while the service keeps it', { service: done }, 'refetch'],
    ['while the service does not answer', {}, 'refetch'],
    ['while the service is not configured', { serviceAnswer: 'not-configured' }, 'restore'],
    ['when the service does not know it', { serviceAnswer: 'unknown' }, 'restore'],
    ['when its results have expired there', { service: { record: { status: 'expired' } } }, 'restore'],
    ['when the service rejected it', { service: { record: { status: 'rejected' } } }, 'restore'],
    ['when recovery could not fetch it', { service: done, failure }, 'restore'],
    ['when the folder is gone as a whole', { artefacts: [], service: done }, 'refetch'],
    ['when its jobinfo is left', { artefacts: [artefact('jobinfo')], service: done }, 'refetch'],
  ])('%s', (_what, job, repair) => {
    expect(stateOf({ timeline, lost, ...job })).toEqual({
      tone: 'bad',
      word: 'Lost',
      repair,
      text: `Lost from the store: stored at ${storedAt}, not there now.`,
    });
  });

  it.each(['done', 'rejected', 'deleted'])('ends with accepting the loss of a job that is %s', (status) => {
    const { steps } = jobState({ ...nothing, timeline, lost, service: { record: { status } } }, [], shown);
    expect(steps.at(-1)).toMatchObject({
      action: 'acknowledge',
      command: expect.stringContaining('acknowledge j1'),
    });
  });

  it('is stored where the transcript is there', () => {
    const media = { key: 'jobs/j1/data', storedAt: '2026-03-05T00:00:00.000Z' };
    const state = stateOf({ timeline, lost: [media, ...lost], artefacts: [artefact('transcript.txt')] });
    expect(state).toMatchObject({
      tone: 'notice',
      word: 'Partly lost',
      repair: 'refetch',
      text: `The transcript is stored. Lost from the store: stored at ${storedAt}, not there now (2 objects).`,
    });
  });

  it('needs nobody once an operator acknowledged the loss, until something is lost that was stored later', () => {
    const receivedAt = '2026-03-04T12:00:00.000Z';
    const acknowledged = ledgerLine({ origin: 'replay', outcome: 'acknowledged', items: [], receivedAt });
    const job = { timeline: [...timeline, acknowledged], lost };
    expect(stateOf(job)).toEqual({
      tone: 'neutral',
      word: 'Acknowledged',
      repair: null,
      text: `Lost from the store: stored at ${storedAt}, not there now. An operator acknowledged the loss.`,
    });
    expect(stateOf({ ...job, artefacts: [artefact('transcript.txt')] })).toMatchObject({ word: 'Stored' });
    const later = { key: 'jobs/j1/data', storedAt: '2026-03-05T00:00:00.000Z' };
    expect(stateOf({ ...job, lost: [...lost, later] })).toMatchObject({ tone: 'bad', word: 'Lost' });
  });

  it('is erased once an operator erased it', () => {
    const erasure = { erasedAt: storedAt, complete: true, keptUntil: null };
    expect(stateOf({ timeline, lost, erasure })).toMatchObject({ word: 'Erased' });
  });
});

describe('what to do next', () => {
  const steps = (job: Partial<KnownJob>, bodies: readonly JobBody[] = []) =>
    jobState({ ...nothing, ...job }, bodies, shown).steps;
  const at = '2026-03-04T05:06:07.089Z';

  it('is one command each', () => {
    const waiting = { deliveryId: 'd1', state: 'waiting', settlement: null };
    const commands = [
      ...steps({ failure: { outcome: 'refused', reason: 'body-too-large' } }),
      ...steps({ timeline: [quarantined] }, [waiting]),
      ...steps({ erasure: { complete: false, keptUntil: at } }),
      ...unknownJobState('j1', 'unknown').steps,
    ].map(({ command }) => command.replace('transcript-receiver ', ''));
    expect(commands).toEqual([
      ...['refetch j1', 'import j1 <file>', 'acknowledge j1 --reason <words>'],
      ...['refetch j1', 'replay release --job j1', 'dismiss d1 --reason <words>'],
      'erase j1',
      ...['job <part>', 'reconcile', 'doctor', 'import j1 <file>'],
    ]);
  });

  it.each<[string, Partial<KnownJob>, string[]]>([
    ['a failure', { failure: { outcome: 'failed', reason: null } }, ['import', 'acknowledge']],
    ['a body in quarantine', { timeline: [quarantined] }, ['release', 'dismiss']],
    [
      'a job that was not found yet',
      { index: { since: null, until: null, missing: [] } },
      ['doctor', 'import'],
    ],
  ])(
    'is nothing that the service must be asked for while it is not configured: %s',
    (_what, job, actions) => {
      const bodies = [{ deliveryId: 'd1', state: 'waiting', settlement: null }];
      const offered = steps({ ...job, serviceAnswer: 'not-configured' }, job.timeline ? bodies : []);
      expect(offered.map(({ action }) => action)).toEqual(actions);
    },
  );

  it.each([
    [{ serviceAnswer: 'unknown' }],
    [{ serviceAnswer: 'found', service: { record: { status: 'deleted' } } }],
  ])('is no refetch of what the service does not have: %j', (service) => {
    const waiting = { deliveryId: 'd1', state: 'waiting', settlement: null };
    const actions = (job: Partial<KnownJob>) =>
      steps({ ...job, ...service }, [waiting]).map(({ action }) => action);
    expect(actions({ timeline: [quarantined] })).toEqual(['release', 'dismiss']);
    expect(actions({ failure: { outcome: 'failed', reason: null } })).toEqual(['import', 'acknowledge']);
  });

  it('says what the reason asks for first', () => {
    const [first] = steps({ failure: { outcome: 'refused', reason: 'body-too-large' } });
    expect(first?.words).toBe(
      'Refetch the job, whatever its size. For later ones raise maxBytes of the source, and restart.',
    );
  });

  it('offers each version that does not count, and none with the bytes of the one that does', () => {
    const version = (sha256: string) => ({
      kind: 'transcript.txt',
      key: `jobs/j1/conflicts/transcript.txt.${sha256}`,
      sha256,
      replaced: null,
    });
    const artefacts = [artefact('transcript.txt', 'b'), version('a'), version('b')];
    const failure = { outcome: 'conflict', reason: null };
    expect(steps({ artefacts, failure }).map(({ command }) => command)).toEqual([
      'transcript-receiver choose j1 jobs/j1/conflicts/transcript.txt.b --reason <words>',
      'transcript-receiver choose j1 jobs/j1/transcript.txt --reason <words>',
    ]);
    const both = [
      artefact('data'),
      ...artefacts,
      { kind: 'data', key: 'jobs/j1/conflicts/data.d1', sha256: 'c', replaced: null },
    ];
    expect(steps({ artefacts: both, failure }).at(-1)?.command).toBe(
      'transcript-receiver choose j1 jobs/j1/data jobs/j1/transcript.txt --reason <words>',
    );
    expect(stateOf({ artefacts: both, failure }).text).toMatch('for 2 artefacts');
    // Nobody chose it, so that its bytes are not those of its hash: the same hash was stored beside it.
    const damaged = [artefact('transcript.txt'), version('a')];
    expect(steps({ artefacts: damaged, failure })[0]?.command).toMatch(/choose j1 \S+\/conflicts\//);
    // The versions of a conflict have expired.
    expect(steps({ failure }).map(({ action }) => action)).toEqual(['acknowledge']);
  });
});
