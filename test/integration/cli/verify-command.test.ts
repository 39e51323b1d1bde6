import { readFileSync } from 'node:fs';
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { VerifyReport } from '../../../src/recovery/verify/verify-report.js';
import { formBody, formType } from '../../support/http/multipart.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { runCli } from '../../support/processes/run-cli.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const transcript = (content: string) => JSON.stringify({ format: '2.9', metadata: {}, results: [], content });
/** Larger than a part, so that it is streamed and its metadata has no hash. */
const MEDIA = Buffer.alloc(200_000, 'recording');

let lost: LostJobs;
let service: RunningService;

beforeEach(async () => {
  lost = await lostJobs();
  service = await startService({ sources: { default: {} }, limits: { quarantineBytes: '128KiB' } });
});
afterEach(async () => {
  await service.stop();
  await lost.simulator.close();
});

const file = (key: string) => join(service.folder, key);
const settings = (more: Record<string, unknown> = {}) => ({
  NODE_CONFIG: JSON.stringify({
    store: { url: `file:${service.folder}`, partSize: '64KiB' },
    ...lost.settings,
    ...more,
  }),
});
const verifyCli = (...args: string[]) => runCli(['verify', ...args], settings());

async function verify(...args: string[]): Promise<{ code: number | null; report: VerifyReport }> {
  const { code, stdout, stderr } = await verifyCli('--json', ...args);
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) };
}

const send = (job: string, content: string) =>
  sendCallback(service, `id=${job}&status=success`, transcript(content), JSON_TYPE);

/** Everything that can be stored: the ledger tells of 10 objects in `jobs/` and two quarantined bodies. */
async function storeOneOfEach(): Promise<void> {
  const form = formBody([
    { name: 'transcript', body: transcript('in a form') },
    { name: 'data', fileName: 'talk.wav', body: MEDIA },
    { name: 'notes', fileName: 'notes.txt', body: 'unknown' },
  ]);
  await sendCallback(service, 'id=form&status=success', form, { 'content-type': formType() });
  await send('plain', 'first');
  await send('plain', 'first');
  await send('plain', 'other');
  await sendCallback(service, 'id=media&status=success', MEDIA, { 'content-type': 'audio/wav' });
  await sendCallback(service, 'id=media&status=success', Buffer.alloc(200_000, 'other'), {
    'content-type': 'audio/wav',
  });
  await sendCallback(service, 'id=broken&status=success', '{"broken', JSON_TYPE);
  const zipped = { ...JSON_TYPE, 'content-encoding': 'gzip' };
  await sendCallback(service, 'id=zipped&status=success', gzipSync('{"broken'), zipped);
  const upload = new FormData();
  upload.append('file', new Blob([transcript('imported')]), 'imported.json');
  expect((await sendForm(adminApi(service).post('/jobs/imported/artefacts'), withKind(upload))).status).toBe(
    200,
  );
  const recovered = await lost.lose();
  expect((await runCli(['refetch', recovered, '--source', 'default'], settings())).code).toBe(0);
}

function withKind(files: FormData): FormData {
  const form = new FormData();
  form.append('kind', 'transcript.json-v2');
  for (const [name, value] of files) form.append(name, value);
  return form;
}

describe('verify', () => {
  it('finds every artefact of callbacks, conflicts, quarantine, imports and recoveries', async () => {
    await storeOneOfEach();
    const stored = await visibleKeys(service.folder, 'jobs/');
    const bytes = stored.reduce((sum, key) => sum + readFileSync(file(key)).length, 0);
    const shallow = await verify();
    expect(shallow.code).toBe(0);
    expect(shallow.report).toMatchObject({
      complete: true,
      checked: stored.length + 2,
      outcomes: { intact: stored.length + 2, missing: 0, damaged: 0 },
      compared: { content: 0, metadata: stored.length + 2 - 3, size: 3 },
      repeated: 1,
      distinct: true,
      missing: [],
      damaged: [],
      faults: [],
    });
    expect(shallow.report.bytes).toBeGreaterThan(bytes);
    const lines = await ledgerOf(service.folder);
    const times = lines.map(({ receivedAt }) => receivedAt).sort();
    expect(shallow.report.ledger).toMatchObject({
      lines: lines.length,
      segments: (await visibleKeys(service.folder, 'ledger/')).length,
      first: times[0],
      last: times.at(-1),
    });
    const deep = await verify('--deep');
    expect(deep).toMatchObject({
      code: 0,
      report: { deep: true, compared: { content: stored.length + 2, metadata: 0, size: 0 } },
    });
  });

  it('keeps its reports in the store, equal for an unchanged store', async () => {
    await storeOneOfEach();
    const until = new Date().toISOString();
    const first = await verify('--until', until, '--since', '2026-01-01');
    const second = await verify('--until', until, '--since', '2026-01-01');
    const [one = '', two = '', ...others] = await visibleKeys(service.folder, 'reports/verify/');
    expect(others).toEqual([]);
    expect(JSON.parse(await readFile(file(one), 'utf8'))).toEqual(first.report);
    const { startedAt, finishedAt } = first.report;
    expect({ ...JSON.parse(await readFile(file(two), 'utf8')), startedAt, finishedAt }).toEqual(first.report);
    expect(second.report).toMatchObject({ version: expect.any(String), store: `file:${service.folder}` });
  });

  it('reports what was removed, truncated, lengthened, flipped and exchanged', async () => {
    await storeOneOfEach();
    await rm(file('jobs/plain/transcript.json'));
    await truncate(file('jobs/media/data'), 100);
    await appendFile(file('jobs/imported/transcript.json'), ' ');
    const inForm = await readFile(file('jobs/form/transcript.json'));
    inForm[10] = (inForm[10] ?? 0) ^ 1;
    await writeFile(file('jobs/form/transcript.json'), inForm);
    await rm(file('jobs/form/data'));
    await writeFile(file('jobs/form/data'), Buffer.alloc(MEDIA.length, 'forged'));

    const shallow = await verify();
    expect(shallow.code).toBe(3);
    expect(shallow.report.outcomes).toMatchObject({ missing: 1, damaged: 2 });
    const deep = await verify('--deep');
    expect(deep.code).toBe(3);
    expect(deep.report.missing).toEqual([
      expect.objectContaining({ key: 'jobs/plain/transcript.json', jobId: 'plain', found: null }),
    ]);
    expect(deep.report.damaged.map(({ key, reason }) => [key, reason]).sort()).toEqual([
      ['jobs/form/data', 'content'],
      ['jobs/form/transcript.json', 'content'],
      ['jobs/imported/transcript.json', 'size'],
      ['jobs/media/data', 'size'],
    ]);
    const size = deep.report.damaged.find(({ key }) => key === 'jobs/media/data');
    expect(size).toMatchObject({ expected: { size: 200_000 }, found: { size: 100 } });
    const text = await verifyCli('--deep');
    expect(text.code).toBe(3);
    expect(text.stdout).toMatch(/^missing {2}jobs\/plain\/transcript\.json {2}received /m);
    expect(text.stdout).toMatch(/^damaged {2}jobs\/form\/data .*content: expected 200000 bytes, sha256 /m);
  });

  it('gives the command that fetches a missing artefact from the service, and it works', async () => {
    const job = await lost.lose();
    expect((await runCli(['refetch', job, '--source', 'default'], settings())).code).toBe(0);
    await rm(file(`jobs/${job}/transcript.json`));
    const { report } = await verify();
    expect(report.refetch).toEqual([`transcript-receiver refetch ${job}`]);
    const [command = ''] = report.refetch;
    expect((await runCli(command.split(' ').slice(1), settings())).code).toBe(0);
    expect(await verify()).toMatchObject({ code: 0, report: { outcomes: { missing: 0 } } });
  });

  it('checks quarantined bodies and the requests beside them', async () => {
    await storeOneOfEach();
    const [one = '', two = ''] = (await visibleKeys(service.folder, 'quarantine/')).filter((key) =>
      key.endsWith('/body'),
    );
    await rm(file(one.replace('body', 'request.json')));
    await rm(file(two));
    const { code, report } = await verify();
    expect(code).toBe(3);
    expect(report.missing).toMatchObject([{ key: two, kind: 'quarantine' }]);
    expect(report.damaged).toMatchObject([{ key: one, kind: 'quarantine', reason: 'request' }]);
  });

  it('accounts apart for what was erased, has expired or was acknowledged', async () => {
    await storeOneOfEach();
    expect((await runCli(['erase', 'form', '--yes'], settings())).code).toBe(0);
    expect((await runCli(['erase', 'broken', '--yes'], settings())).code).toBe(0);
    await rm(file('jobs/media/data'));
    await rm(file('jobs/plain/transcript.json'));
    const reviewed = await adminApi(service).post('/jobs/plain/acknowledge').send({ reason: 'not needed' });
    expect(reviewed.status).toBe(200);
    const { code, report } = await verify('--expired-after', '90d', '--expired-after', 'data=0s');
    expect(code).toBe(0);
    expect(report.outcomes).toMatchObject({ missing: 0, erased: 4, expired: 1, acknowledged: 1 });
    expect(await verify()).toMatchObject({ code: 3, report: { outcomes: { missing: 1, expired: 0 } } });
  });

  it('misses what was stored after the erasure of its job', async () => {
    await send('again', 'before');
    expect((await runCli(['erase', 'again', '--yes'], settings())).code).toBe(0);
    await rm(file('.erasures/again.json'));
    await send('again', 'after');
    await rm(file('jobs/again/transcript.json'));
    const { report } = await verify();
    expect(report.outcomes).toMatchObject({ erased: 1, missing: 1 });
  });

  it('exits with 4 when lines of the ledger cannot be read, and still checks the others', async () => {
    await send('plain', 'first');
    const [segment = ''] = await visibleKeys(service.folder, 'ledger/');
    await appendFile(file(segment), '{"v":1,"deliv\n{"v":2}\n');
    await rm(file('jobs/plain/transcript.json'));
    const { code, report } = await verify();
    expect(code).toBe(4);
    expect(report).toMatchObject({ complete: false, ledger: { broken: 1, newer: 1 } });
    expect(report.outcomes.missing).toBe(1);
  });

  it.each([
    [['--since', '2999-01-01'], /--since must be before --until/],
    [['--since', 'yesterday'], /--since expects/],
    [['--max-rate', '5MiB'], /--max-rate needs --deep/],
    [['--deep', '--max-rate', 'fast'], /--max-rate expects a size/],
    [['--expired-after', 'video=3d'], /--expired-after expects a duration .* or kind=duration/],
    [['--expired-after', '30'], /--expired-after expects a duration/],
    [['--depth'], /unknown option/],
  ])('refuses %j with 2', async (args, message) => {
    const { code, stderr } = await verifyCli(...args);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });
});
