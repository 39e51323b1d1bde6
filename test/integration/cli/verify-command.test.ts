import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import { type VerifyOptions, verify } from '../../../src/recovery/verify/verify.js';
import type { VerifyReport } from '../../../src/recovery/verify/verify-report.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { formBody, formType } from '../../support/http/multipart.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerTextsOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { PROGRAM_ENVIRONMENT } from '../../support/processes/program-environment.js';
import { MAIN, obeyingModes } from '../../support/processes/receiver-process.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { NOTHING_ENDS } from '../../support/recovery/recovery-fixture.js';
import { openStandInPlace, PREFIX } from '../../support/store/stand-in-store.js';
import { storeSettings } from '../../support/store/store-settings.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const transcript = (content: string) => JSON.stringify({ format: '2.9', metadata: {}, results: [], content });
/** Larger than a part, so that it is streamed and its metadata has no hash. */
const MEDIA = Buffer.alloc(200_000, 'recording');

let lost: LostJobs;
let service: RunningService;

const file = (key: string) => join(service.folder, key);
const settings = (more: Record<string, unknown> = {}) => ({
  NODE_CONFIG: JSON.stringify({
    store: { url: `file:${service.folder}`, partSize: '64KiB' },
    ...lost.settings,
    ...more,
  }),
});
/** The command uses the store alone, so the key need not be there. */
const verifyCli = (...args: string[]) =>
  runCommand(
    ['verify', ...args],
    settings({ speech: { ...(lost.settings.speech as object), apiKey: `\${file:/nowhere/key}` } }),
  );

/** As the command does, without a process of its own. */
function run(options: Partial<VerifyOptions> = {}): Promise<VerifyReport> {
  const store = createFileStore({ directory: service.folder, partSize: 64 * 1024, fsync: false });
  const sources = { default: { contents: [], keyPrefix: '' } };
  const parts = { store, sources, retention: 7 * 86_400_000, retained: NOTHING_ENDS, clock: Date.now };
  return verify(parts, { version: 'test', since: new Date(Date.now() - 86_400_000), ...options });
}

async function storedReports(): Promise<VerifyReport[]> {
  const keys = await visibleKeys(service.folder, 'reports/verify/');
  return keys.map((key) => JSON.parse(readFileSync(file(key), 'utf8')));
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
  expect((await runCommand(['refetch', recovered], settings())).code).toBe(0);
}

function withKind(files: FormData): FormData {
  const form = new FormData();
  form.append('kind', 'transcript.json-v2');
  for (const [name, value] of files) form.append(name, value);
  return form;
}

describe('verify', () => {
  beforeEach(async () => {
    lost = await lostJobs();
    service = await startService({ sources: { default: {} }, limits: { quarantineBytes: '128KiB' } });
  });
  afterEach(async () => {
    await service.stop();
    await lost.simulator.close();
  });

  it('finds every artefact of callbacks, conflicts, quarantine, imports and recoveries, and keeps its reports', async () => {
    await storeOneOfEach();
    const stored = await visibleKeys(service.folder, 'jobs/');
    const bytes = stored.reduce((sum, key) => sum + readFileSync(file(key)).length, 0);
    const bodies = (await visibleKeys(service.folder, 'quarantine/')).filter((key) => key.endsWith('/body'));
    const all = stored.length + bodies.length;
    const until = new Date();
    const window = { since: new Date(until.getTime() - 86_400_000), until };
    const shallow = await run(window);
    expect(bodies).toHaveLength(2);
    expect(shallow).toMatchObject({
      complete: true,
      checked: all,
      bytes: bodies.reduce((sum, key) => sum + readFileSync(file(key)).length, bytes),
      outcomes: { intact: all, missing: 0, damaged: 0 },
      // Three recordings were streamed.
      compared: { content: 0, metadata: all - 3, size: 3 },
      faults: [],
    });
    const lines = await ledgerTextsOf(service.folder);
    expect(shallow.ledger).toMatchObject({
      lines: lines.length,
      segments: (await visibleKeys(service.folder, 'ledger/')).length,
    });
    expect(await storedReports()).toEqual([shallow]);
    // Of an unchanged store it says the same again.
    await run(window);
    const { startedAt, finishedAt } = shallow;
    const [, again] = await storedReports();
    expect({ ...again, startedAt, finishedAt }).toEqual(shallow);
    expect((await run({ deep: true })).compared).toEqual({ content: all, metadata: 0, size: 0 });
  });

  it('reports what was removed, truncated, lengthened, flipped and exchanged, in health and status, too', async () => {
    await storeOneOfEach();
    await rm(file('jobs/plain/transcript.json'));
    await truncate(file('jobs/media/data'), 100);
    await appendFile(file('jobs/imported/transcript.json'), ' ');
    const inForm = await readFile(file('jobs/form/transcript.json'));
    inForm[10] = (inForm[10] ?? 0) ^ 1;
    await writeFile(file('jobs/form/transcript.json'), inForm);
    await rm(file('jobs/form/data'));
    await writeFile(file('jobs/form/data'), Buffer.alloc(MEDIA.length, 'forged'));

    expect((await run()).outcomes).toMatchObject({ missing: 1, damaged: 2 });
    const { code, stdout, stderr } = await verifyCli('--deep', '--json');
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    const { missing, damaged }: VerifyReport = JSON.parse(stdout);
    expect(missing).toEqual([
      expect.objectContaining({ key: 'jobs/plain/transcript.json', jobId: 'plain', found: null }),
    ]);
    expect(damaged.map(({ key, reason }) => [key, reason]).sort()).toEqual([
      ['jobs/form/data', 'content'],
      ['jobs/form/transcript.json', 'content'],
      ['jobs/imported/transcript.json', 'size'],
      ['jobs/media/data', 'size'],
    ]);
    const shortened = damaged.find(({ key }) => key === 'jobs/media/data');
    expect(shortened).toMatchObject({ expected: { size: 200_000 }, found: { size: 100 } });

    const { body: health } = await adminApi(service).get('/health');
    expect(health.verify).toMatchObject({ missing: 1, damaged: 4, deep: true, complete: true });
    const found = {
      code: 'artefacts-missing',
      params: { missing: 1, damaged: 4, finishedAt: health.verify.finishedAt },
    };
    expect(health.verdict.issues).toContainEqual(expect.objectContaining(found));
    const status = JSON.parse((await runCommand(['status', '--json'], settings())).stdout);
    expect(status.verdict.issues).toContainEqual(expect.objectContaining(found));
  });

  it('prints what is wrong and the command that fetches it again, one for many jobs, and the command works', async () => {
    const jobs = [await lost.lose(), await lost.lose(), await lost.lose()];
    for (const job of jobs) expect((await runCommand(['refetch', job], settings())).code).toBe(0);
    const [first = ''] = jobs;
    for (const gone of [[first], jobs]) {
      for (const job of gone) await rm(file(`jobs/${job}/transcript.json`));
      const { code, stdout } = await verifyCli();
      expect(code).toBe(3);
      expect(stdout).toMatch(new RegExp(`^ {2}missing +${gone.length}$`, 'm'));
      expect(stdout).toMatch(new RegExp(`^missing {2}jobs/${first}/transcript\\.json {2}received `, 'm'));
      const [command = '', ...more] = stdout
        .split('\n')
        .filter((line) => line.startsWith('  transcript-receiver '));
      expect(more).toEqual([]);
      for (const job of gone) expect(command).toContain(job);
      const [, ...args] = (command.trim().match(/"[^"]*"|\S+/g) ?? []).map((word) =>
        word.replaceAll('"', ''),
      );
      expect(args[0]).toBe(gone.length === 1 ? 'refetch' : 'replay');
      expect((await runCommand(args, settings())).code).toBe(0);
    }
    expect((await verifyCli()).code).toBe(0);
  });

  it('goes on behind folders of the ledger that it may not read', async () => {
    await send('plain', 'first');
    const hours = ['04', '05', '06', '07'].map((hour) => `dt=2026-03-04/hour=${hour}`);
    const folders = ['dt=2026-03-03', ...hours].map((folder) => file(`ledger/${folder}`));
    await mkdir(file('ledger/dt=2026-03-04'));
    for (const folder of folders) await mkdir(folder, { mode: 0 });
    const [command = '', ...args] = [...obeyingModes(), process.execPath, MAIN, 'verify', '--json'];
    const env = { ...PROGRAM_ENVIRONMENT, ...settings() };
    const stdout = await new Promise<string>((resolve) => {
      execFile(command, [...args, '--since', '2026-03-01'], { env }, (_error, out) => resolve(out));
    });
    const { checked, complete, faults }: VerifyReport = JSON.parse(stdout);
    expect({ checked, complete }).toEqual({ checked: 1, complete: false });
    expect(faults.map(({ key }) => file(key ?? ''))).toEqual(folders.map((folder) => `${folder}/`));
  });

  it('accounts apart for what was erased or acknowledged', async () => {
    await storeOneOfEach();
    const erased = ['form', 'broken'].map((job) => adminApi(service).delete(`/jobs/${job}`));
    expect((await Promise.all(erased)).map(({ status }) => status)).toEqual([200, 200]);
    await rm(file('jobs/plain/transcript.json'));
    const reviewed = await adminApi(service).post('/jobs/plain/acknowledge').send({ reason: 'not needed' });
    expect(reviewed.status).toBe(200);
    const { code, stdout } = await verifyCli('--json');
    const { outcomes }: VerifyReport = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(outcomes).toMatchObject({ missing: 0, erased: 4, expired: 0, acknowledged: 1 });
  });
});

describe('verify with wrong options', () => {
  it.each([
    [['--since', '2999-01-01'], /--since must be before --until/],
    [['--max-rate', '5MiB'], /--max-rate needs --deep/],
    [['--deep', '--max-rate', 'fast'], /--max-rate expects a size/],
  ])('refuses %j with 2', async (args, message) => {
    const env = { NODE_CONFIG: JSON.stringify({ store: { url: 'file:/missing/store' } }) };
    const { code, stderr } = await runCommand(['verify', ...args], env);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });
});

describe('verify on S3', () => {
  let place: Awaited<ReturnType<typeof openStandInPlace>>;

  beforeEach(async () => {
    place = await openStandInPlace();
    const { state } = place.standIn;
    const lines = Array.from({ length: 200 }, (_, n) => {
      const body = Buffer.from(transcript(`${n}`));
      const sha256 = hash('sha256', body, 'hex');
      const item = { kind: 'transcript.json-v2', size: body.length, sha256, outcome: 'created' } as const;
      const key = `jobs/j${n}/transcript.json`;
      state.put(PREFIX + key, body, { 'x-amz-meta-sha256': sha256 });
      return JSON.stringify(ledgerLine({ jobId: `j${n}`, items: [{ ...item, key }] }));
    });
    const segment = segmentKey({ hour: hourAt(Date.now()), writer: 'r', number: 1 });
    state.put(PREFIX + segment, Buffer.from(`${lines.join('\n')}\n`), {});
  });
  afterEach(() => place.dispose());

  const heads = () => place.standIn.requests.filter(({ operation }) => operation === 'HeadObject');
  const writes = () =>
    place.standIn.requests
      .filter(({ operation }) => !['HeadObject', 'GetObject', 'ListObjects'].includes(operation))
      .map(({ operation, key }) => `${operation} ${key}`);
  const reports = () =>
    writes().filter((write) => /^PutObject .*\/reports\/verify\/[^/]+\.json$/.test(write));

  /** Without retries: on a busy machine a request that times out would be counted twice. */
  function environment(): Record<string, string> {
    const { s3, ...store } = storeSettings(place.options) as { s3: object };
    const patient = { ...s3, requestTimeout: '30s', retries: 0 };
    return { NODE_CONFIG: JSON.stringify({ store: { ...store, s3: patient } }) };
  }

  it('asks once for each artefact, and writes nothing but its report', async () => {
    const { code, stdout } = await runCommand(['verify', '--json'], environment());
    expect({ code, report: JSON.parse(stdout) }).toMatchObject({ code: 0, report: { checked: 200 } });
    expect(heads()).toHaveLength(200);
    expect(writes()).toEqual(reports());
    expect(reports()).toHaveLength(1);
  });

  it('stores a report of what it checked until SIGINT, and exits with 4', async () => {
    let kill: (signal: NodeJS.Signals) => void = () => {};
    place.standIn.misbehave = ({ operation }) => {
      if (operation === 'HeadObject' && heads().length === 20) kill('SIGINT');
      return null;
    };
    const { code, stdout, stderr } = await runCli(['verify', '--json'], environment(), undefined, (given) => {
      kill = given;
    });
    expect({ code, stderr }).toEqual({ code: 4, stderr: '' });
    const report: VerifyReport = JSON.parse(stdout);
    expect(report).toMatchObject({ complete: false, faults: [{ reason: 'the run was interrupted' }] });
    expect(report.checked).toBeGreaterThan(0);
    expect(report.checked).toBeLessThan(200);
    expect(reports()).toHaveLength(1);
  });
});
