import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { KINDS, type RetrievableKind } from '../../../src/domain/kinds.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';
import { commit, context, putItem } from '../../support/store/archive-fixture.js';

/** What comes instead of an item, as the service or something before it may answer. */
interface Instead {
  readonly item: RetrievableKind;
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Made of the item's own bytes. */
  readonly body: (own: Buffer) => Buffer | string;
  readonly reason: RegExp;
}

const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };
const PAGE = '<!DOCTYPE html><html><body>Maintenance</body></html>';
const ERROR = '{"code":429,"error":"Too Many Requests"}';
const json = 'transcript.json-v2';

const CASES: Record<string, Instead> = {
  'a web page for txt': {
    item: 'transcript.txt',
    headers: { 'content-type': 'text/html' },
    body: () => PAGE,
    reason: /transcript\.txt is of the foreign type text\/html/,
  },
  'a web page that claims to be text': {
    item: 'transcript.txt',
    headers: TEXT,
    body: () => `\ufeff\n${PAGE}`,
    reason: /is a web page/,
  },
  'a part of the txt (206)': {
    item: 'transcript.txt',
    status: 206,
    headers: TEXT,
    body: (own) => own.subarray(0, 20),
    reason: /answered 206/,
  },
  'a promise of the txt (202)': {
    item: 'transcript.txt',
    status: 202,
    headers: JSON_TYPE,
    body: () => '{"status":"running"}',
    reason: /answered 202/,
  },
  'an error document for data': {
    item: 'data',
    headers: JSON_TYPE,
    body: () => ERROR,
    reason: /foreign type application\/json/,
  },
  'compressed json': {
    item: json,
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    body: (own) => gzipSync(own),
    reason: /compressed, which was not asked for/,
  },
};

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

describe('content that does not fit the artefact', () => {
  it.each(Object.entries(CASES))('is not archived: %s', async (_name, instead) => {
    const { simulator, parts, lose } = fixture;
    const { item, status = 200, headers = {}, body, reason } = instead;
    const jobId = await lose({ contents: [item] });
    const own = simulator.expected(jobId)[item];
    const bytes = Buffer.from(body(await own.bytes()));
    simulator.faults.add({
      kind: 'answer',
      operation: item === 'data' ? 'media' : item === 'jobinfo' ? 'record' : 'transcript',
      status,
      headers,
      base64: bytes.toString('base64'),
    });
    const { jobs } = await reconcile(parts);
    expect(jobs).toMatchObject([{ jobId, outcome: 'failed', reason: expect.stringMatching(reason) }]);
    expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([]);

    const callback = parts.archive.begin(context({ jobId }));
    await putItem(callback, { kind: item, contentType: 'text/plain' }, await own.bytes());
    expect(await commit(callback)).toMatchObject([
      { key: `jobs/${jobId}/${KINDS[item].file}`, outcome: 'created' },
    ]);
    expect((await reconcile(parts)).outcomes).toMatchObject({ failed: 0, conflict: 0 });
  });
});

describe('content that fits the artefact', () => {
  it.each([
    [json, 'application/vnd.speech.v2+json'],
    [json, 'application/octet-stream'],
    ['transcript.txt', 'text/plain; charset=utf-8'],
    ['transcript.srt', 'application/x-subrip'],
    ['data', 'video/mp4'],
  ] as const)('%s as %s is archived byte by byte', async (item, type) => {
    const { simulator, parts, lose, isExact } = fixture;
    const jobId = await lose({ contents: [item] }, { mediaBytes: 300_000 });
    const bytes = await simulator.expected(jobId)[item].bytes();
    simulator.faults.add({
      kind: 'answer',
      operation: item === 'data' ? 'media' : 'transcript',
      status: 200,
      headers: { 'content-type': type },
      base64: bytes.toString('base64'),
    });
    expect((await reconcile(parts)).outcomes).toMatchObject({ recovered: 1 });
    expect(await isExact(`jobs/${jobId}/${KINDS[item].file}`, jobId, item)).toBe(true);
  });
});
