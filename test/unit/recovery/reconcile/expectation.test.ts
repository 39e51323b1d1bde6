import { describe, expect, it } from '@jest/globals';
import { NO_CONTEXT } from '../../../../src/domain/context.js';
import { type ExpectationScope, expectationOf } from '../../../../src/recovery/reconcile/expectation.js';
import type { JobRecord, NotificationConfig } from '../../../../src/speech/wire.js';

const SOURCES = {
  default: { contents: ['transcript'], keyPrefix: '' },
  legal: { contents: ['transcript.txt', 'data'], keyPrefix: 'legal/' },
};

function job(...entries: (string | Partial<NotificationConfig>)[]): JobRecord {
  const notification_config = entries.map((entry) =>
    typeof entry === 'string'
      ? { url: entry }
      : { url: 'https://receiver.example/callbacks/default', ...entry },
  );
  return {
    id: 'job1',
    status: 'done',
    created_at: '2026-01-01T00:00:00.000Z',
    data_name: '',
    config: { type: 'transcription', ...(entries.length > 0 ? { notification_config } : {}) },
  };
}

function asked(more: Partial<ExpectationScope> = {}): ExpectationScope {
  return { sources: SOURCES, publicUrl: null, source: null, selectedBy: 'list', ...more };
}

function keys(record: JobRecord, question = asked()): string[] | null {
  return expectationOf(record, question)?.items.map(({ key }) => key) ?? null;
}

describe('which entries lead here', () => {
  it.each([
    'https://receiver.example/callbacks/default',
    'https://receiver.example/callbacks/default/',
    'http://10.1.2.3:8080/callbacks/default?contents=transcript&team=a',
    'https://shared.example/behind/an/ingress/callbacks/default',
  ])('%s does', (url) => expect(keys(job(url))).toEqual(['jobs/job1/transcript.json']));

  it.each([
    'https://elsewhere.example/hooks/default',
    'https://receiver.example/callbacks/unknown',
    'https://receiver.example/callbacks/default/more',
    'https://receiver.example/callbacks/',
    'https://receiver.example/callbacks/constructor',
    'https://receiver.example/?to=/callbacks/default',
    'not a web address',
  ])('%s does not', (url) => expect(keys(job(url))).toBeNull());

  it('must begin with the public address when it is configured', () => {
    const question = asked({ publicUrl: 'https://receiver.example/stt//' });
    expect(keys(job('https://receiver.example/stt/callbacks/default'), question)).toHaveLength(1);
    expect(keys(job('HTTPS://Receiver.Example:443/stt/callbacks/default/'), question)).toHaveLength(1);
    expect(keys(job('https://receiver.example/callbacks/default'), question)).toBeNull();
    expect(keys(job('https://other-team.example/stt/callbacks/default'), question)).toBeNull();
  });
});

describe('what should be here', () => {
  // Rule: Notification configuration: `contents` is empty by default
  it('is the transcript when contents are absent, and nothing when they are empty', () => {
    expect(keys(job({}))).toEqual(['jobs/job1/transcript.json']);
    expect(keys(job({ contents: [] }))).toEqual([]);
  });

  // Rule: Notification configuration: `transcript` means `transcript.json-v2`
  it('is every content of the entries, each once', () => {
    const contents = [
      'transcript',
      'transcript.json-v2',
      'transcript.txt',
      ' Transcript:SRT ',
      'jobinfo',
      'data',
    ];
    expect(keys(job({ contents }))).toEqual([
      'jobs/job1/transcript.json',
      'jobs/job1/transcript.txt',
      'jobs/job1/transcript.srt',
      'jobs/job1/jobinfo.json',
      'jobs/job1/data',
    ]);
  });

  it("goes below each source's own prefix, and counts once where prefixes are the same", () => {
    const both = job(
      { contents: ['transcript', 'transcript.txt'] },
      'https://x.example/callbacks/legal',
      'https://elsewhere.example/hook',
    );
    expect(expectationOf(both, asked())).toEqual({
      callbacks: ['default', 'legal'].map((source) => ({ source, submitted: NO_CONTEXT })),
      unsupported: [],
      items: [
        { kind: 'transcript.json-v2', key: 'jobs/job1/transcript.json', source: 'default' },
        { kind: 'transcript.txt', key: 'jobs/job1/transcript.txt', source: 'default' },
        { kind: 'transcript.json-v2', key: 'legal/jobs/job1/transcript.json', source: 'legal' },
      ].map((item) => ({ ...item, submitted: NO_CONTEXT })),
    });
    expect(keys(job({}, {}))).toHaveLength(1);
    const sources = { legal: { contents: [], keyPrefix: '' }, default: { contents: [], keyPrefix: '' } };
    expect(expectationOf(both, asked({ sources }))?.items.map(({ source }) => source)).toEqual([
      'default',
      'default',
    ]);
  });

  it('lists contents that the API does not offer instead of missing them', () => {
    expect(expectationOf(job({ contents: ['alignment', 'transcript'] }), asked())).toMatchObject({
      unsupported: ['alignment'],
      items: [{ kind: 'transcript.json-v2' }],
    });
  });
});

describe('jobs whose entries do not lead here', () => {
  it('are ignored without a selection', () => {
    expect(keys(job())).toBeNull();
    expect(keys(job('https://elsewhere.example/hook'))).toBeNull();
  });

  it("have the source's contents, whatever their entries say, when an operator named the job", () => {
    const foreign = job('https://elsewhere.example/hook');
    expect(keys(foreign, asked({ source: 'legal', selectedBy: 'operator' }))).toEqual([
      'legal/jobs/job1/transcript.txt',
      'legal/jobs/job1/data',
    ]);
    expect(keys(foreign, asked({ selectedBy: 'operator' }))).toBeNull();
    const only = { default: SOURCES.default };
    expect(keys(foreign, asked({ selectedBy: 'operator', sources: only }))).toEqual([
      'jobs/job1/transcript.json',
    ]);
  });
});
