import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { RecoveryReport } from '../../../src/recovery/reconcile/report/recovery-report.js';
import { type VerifyOptions, verify } from '../../../src/recovery/verify/verify.js';
import type { VerifyReport } from '../../../src/recovery/verify/verify-report.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import { formBody, formType } from '../../support/http/multipart.js';
import { writeHour } from '../../support/ledger/file-ledger.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerOf, ledgerTextsOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { PROGRAM_ENVIRONMENT } from '../../support/processes/program-environment.js';
import { MAIN, obeyingModes } from '../../support/processes/receiver-process.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import {
  NOTHING_EXPIRES,
  type RecoveryFixture,
  recoveryFixture,
} from '../../support/recovery/recovery-fixture.js';
import { openStandInPlace, PREFIX } from '../../support/store/stand-in-store.js';
import { storeSettings } from '../../support/store/store-settings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('verification', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const transcript = (content: string) =>
    JSON.stringify({ format: '2.9', metadata: {}, results: [], content });

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
    const parts = { store, sources, retention: 7 * 86_400_000, retained: NOTHING_EXPIRES, clock: Date.now };
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
    expect(
      (await sendForm(adminApi(service).post('/jobs/imported/artefacts'), withKind(upload))).status,
    ).toBe(200);
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
      const bodies = (await visibleKeys(service.folder, 'quarantine/')).filter((key) =>
        key.endsWith('/body'),
      );
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
      await mkdir(file('ledger/dt=2026-03-04'));
      for (const folder of ['dt=2026-03-03', ...hours]) await mkdir(file(`ledger/${folder}`), { mode: 0 });
      const [command = '', ...args] = [...obeyingModes(), process.execPath, MAIN, 'verify', '--json'];
      const env = { ...PROGRAM_ENVIRONMENT, ...settings() };
      const stdout = await new Promise<string>((resolve) => {
        execFile(command, [...args, '--since', '2026-03-01'], { env }, (_error, out) => resolve(out));
      });
      const { checked, complete, faults }: VerifyReport = JSON.parse(stdout);
      expect({ checked, complete }).toEqual({ checked: 1, complete: false });
      const day = Array.from({ length: 24 }, (_, n) => `dt=2026-03-03/hour=${String(n).padStart(2, '0')}`);
      expect(faults.map(({ key }) => key)).toEqual([...day, ...hours].map((hour) => `ledger/${hour}/`));
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

  it('verify refuses a window that begins in the future, before it looks', async () => {
    const env = { NODE_CONFIG: JSON.stringify({ store: { url: 'file:/missing/store' } }) };
    const { code, stderr } = await runCommand(['verify', '--since', '2999-01-01'], env);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/must be before --until/),
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
      const { code, stdout, stderr } = await runCli(
        ['verify', '--json'],
        environment(),
        undefined,
        (given) => {
          kill = given;
        },
      );
      expect({ code, stderr }).toEqual({ code: 4, stderr: '' });
      const report: VerifyReport = JSON.parse(stdout);
      expect(report).toMatchObject({ complete: false, faults: [{ reason: 'the run was interrupted' }] });
      expect(report.checked).toBeGreaterThan(0);
      expect(report.checked).toBeLessThan(200);
      expect(reports()).toHaveLength(1);
    });
  });
});

describe('merge on the command line', () => {
  /** The command uses the store alone, so the key need not be there. */
  const NO_KEY = { apiKey: `\${file:/nowhere/key}` };
  const HOUR = 3_600_000;
  const SEGMENTS = { segments: 6, lines: 5 };

  let folder: string;
  let store: ObjectStore;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ path: folder, remove } = await temporaryFolder());
    store = await openStore({ url: `file:${folder}`, fsync: false });
  });
  afterEach(async () => {
    await store.close();
    await remove();
  });

  const settings = (more: object = {}) => ({
    NODE_CONFIG: JSON.stringify({
      store: { url: `file:${folder}` },
      sources: { intake: {} },
      ...more,
    }),
  });

  /** Begin of the hour so many hours ago. */
  const hoursAgo = (hours: number) => Math.floor(Date.now() / HOUR) * HOUR - hours * HOUR;

  async function listKeys(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of store.list(prefix)) keys.push(key);
    return keys;
  }

  /** The lines of the objects that a record names. */
  async function mergedTexts(): Promise<string[]> {
    const keys = await listKeys('ledger-hours/');
    const texts = keys
      .filter((key) => key.endsWith('.json'))
      .map(async (key) => {
        const { object } = JSON.parse(await readFile(join(folder, key), 'utf8')) as {
          readonly object: string;
        };
        return gunzipSync(await readFile(join(folder, object)))
          .toString()
          .trimEnd()
          .split('\n');
      });
    return (await Promise.all(texts)).flat().sort();
  }

  it('merges whole hours and reports it, and exits with 1 when there is nothing to do', async () => {
    const lines = [
      ...(await writeHour(store, hoursAgo(100), SEGMENTS)),
      ...(await writeHour(store, hoursAgo(9), SEGMENTS)),
    ];
    await writeHour(store, hoursAgo(0), SEGMENTS);
    const first = await runCommand(['merge'], settings({ speech: NO_KEY }));
    expect(first).toEqual({
      code: 0,
      stdout: 'Merged 2 hours: 60 lines of 12 segments in 2 objects.\n',
      stderr: '',
    });
    const { code, stdout } = await runCommand(['merge', '--json'], settings());
    expect({ code, report: JSON.parse(stdout) }).toMatchObject({
      code: 1,
      report: { hours: 0, records: 0, deleted: 0, oldestOpen: null, faults: [] },
    });
    expect(await mergedTexts()).toEqual(lines.map((line) => JSON.stringify(line)).sort());
  });

  it('looks at the hours again that are merged already with --all and with --since', async () => {
    await writeHour(store, hoursAgo(200), SEGMENTS);
    await writeHour(store, hoursAgo(190), SEGMENTS);
    await runCommand(['merge'], settings());
    // A late segment.
    const late = segmentKey({ hour: hourAt(hoursAgo(200)), writer: 'late', number: 1 });
    await store.create(late, Buffer.from('{}\n'), { contentType: 'application/x-ndjson', metadata: {} });
    const again = await runCommand(['merge'], settings());
    expect(again.stdout).toBe(
      'No hour had anything to merge. Older hours are looked at again with --since or --all.\n',
    );
    expect((await runCommand(['merge', '--since', '5d'], settings())).stdout).toBe(
      'No hour had anything to merge.\n',
    );
    expect((await runCommand(['merge', '--all'], settings())).stdout).toMatch(
      /^Merged 1 hour: 1 line of 1 segment /,
    );
  });

  it('exits with 3 and names what is lost', async () => {
    await writeHour(store, Date.parse('2026-03-04T05:00:00Z'), SEGMENTS);
    const keys: string[] = [];
    for await (const { key } of store.list('ledger/')) keys.push(key);
    await store.delete(keys[2] ?? '');
    const { code, stdout } = await runCommand(['merge'], settings());
    const writer = /hour=05\/(.*)~/.exec(keys[2] ?? '')?.[1];
    expect({ code, lines: stdout.trim().split('\n') }).toEqual({
      code: 3,
      lines: [
        'Merged 1 hour: 25 lines of 5 segments in 1 object.',
        `error in ledger/dt=2026-03-04/hour=05/: ledger/dt=2026-03-04/hour=05/ has lost number 3 of ${writer}`,
      ],
    });
  });

  it('does not say that nothing was to do when the store refuses', async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const s3 = { endpoint, region: 'eu-central-1', forcePathStyle: true };
      const { code, stdout } = await runCommand(['merge'], {
        ...settings({ store: { url: 's3://bucket', s3 } }),
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
      });
      expect({ code, lines: stdout.trim().split('\n') }).toEqual({
        code: 4,
        lines: [expect.stringMatching(/^error: .*AccessDenied/)],
      });
    } finally {
      server.close();
    }
  });

  it('rejects --all together with --since', async () => {
    const { code, stderr } = await runCommand(['merge', '--all', '--since', '7d'], settings());
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'transcript-receiver: --all and --since exclude each other\n',
    });
  });

  it('stops at a signal with what the next run completes', async () => {
    const { standIn, options, dispose } = await openStandInPlace();
    const onS3 = await openStore(options);
    try {
      const hours = [9, 10, 11, 12, 13];
      const lines = await Promise.all(hours.map((each) => writeHour(onS3, hoursAgo(each), SEGMENTS)));
      let kill: (signal: NodeJS.Signals) => void = () => {};
      // A second signal would end the process at once.
      standIn.misbehave = ({ operation, attempt, key }) => {
        if (operation === 'PutObject' && key.endsWith('/1.json') && attempt === 1) {
          kill('SIGTERM');
          kill = () => {};
        }
        return null;
      };
      const environment = settings({ store: storeSettings(options) });
      const stopped = await runCli(['merge', '--json'], environment, undefined, (given) => {
        kill = given;
      });
      expect({ code: stopped.code, report: JSON.parse(stopped.stdout) }).toMatchObject({
        code: 3,
        report: { interrupted: true, faults: [] },
      });
      const merged = () => [...standIn.state.objects.keys()].filter((key) => key.endsWith('/1.json')).length;
      expect(merged()).toBeGreaterThan(0);
      expect(merged()).toBeLessThan(hours.length);
      const { code, stdout } = await runCommand(['merge', '--json'], environment);
      expect({ code, merged: merged() }).toEqual({ code: 0, merged: hours.length });
      expect(JSON.parse(stdout).lines + JSON.parse(stopped.stdout).lines).toBe(lines.flat().length);
    } finally {
      await onS3.close();
      await dispose();
    }
  });
});

describe('recovery', () => {
  let fixture: RecoveryFixture;

  beforeEach(async () => {
    fixture = await recoveryFixture();
  });

  afterEach(() => fixture.close());

  function settings(more: Record<string, unknown> = {}): Record<string, string> {
    const regions = Object.fromEntries(
      Object.entries(fixture.simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]),
    );
    const settings = {
      store: { url: `file:${fixture.folder}`, partSize: '64KiB' },
      limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
      speech: { apiKey: fixture.simulator.apiKey, regions, retries: 0 },
      recovery: { grace: '0s' },
      ...more,
    };
    return { NODE_CONFIG: JSON.stringify(settings) };
  }

  describe('reconcile on the command line', () => {
    it('fetches, prints the report and exits with 0', async () => {
      const id = await fixture.lose();
      const first = await runCommand(['reconcile', '--json'], settings());
      expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(/^.*the store is empty.*\n$/) });
      const report = JSON.parse(first.stdout) as RecoveryReport;
      expect(report.outcomes.recovered).toBe(1);
      const [key] = await visibleKeys(fixture.folder, 'reports/');
      expect(JSON.parse(await readFile(join(fixture.folder, key ?? ''), 'utf8'))).toEqual(report);
      expect(await fixture.isExact(`jobs/${id}/transcript.json`, id, 'transcript.json-v2')).toBe(true);
      const second = await runCommand(['reconcile'], settings());
      expect(second).toMatchObject({ code: 0, stderr: '' });
      expect(second.stdout).toMatch(/matched +1\n/);
    });

    it('settles the failures of jobs that are complete', async () => {
      const jobId = await fixture.lose();
      await runCommand(['reconcile'], settings());
      const receivedAt = new Date().toISOString();
      await fixture.parts.ledger.append(ledgerLine({ receivedAt, jobId, outcome: 'refused', items: [] }));
      expect((await runCommand(['failures'], settings())).stdout).toMatch(/^1 job is failing/);
      expect(await runCommand(['reconcile'], settings())).toMatchObject({ code: 0, stderr: '' });
      expect((await runCommand(['failures'], settings())).stdout).toMatch(/^No job is failing/);
    });

    it('exits with 3 for what is lost for good, with 4 for what may come yet, 4 before 3', async () => {
      fixture.simulator.setStatus(await fixture.lose(), 'expired');
      const lost = await runCommand(['reconcile'], settings());
      expect(lost.code).toBe(3);
      expect(lost.stdout).toMatch(/unrecoverable +eu1 \S+ .*the job is expired/);
      await fixture.lose();
      fixture.simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
      const both = await runCommand(['reconcile'], settings());
      expect(both.code).toBe(4);
      expect(both.stdout).toMatch(/failed +eu1 .*answered 500/);
    });

    it('says that pending jobs need a later run', async () => {
      await fixture.lose();
      const { code, stdout } = await runCommand(['reconcile'], settings({ recovery: { grace: '1h' } }));
      expect(code).toBe(0);
      expect(stdout).toMatch(/pending +1\n.*\nPending jobs .* run reconcile again/s);
      expect((await runCommand(['reconcile'], settings())).stdout).not.toContain('Pending jobs');
    });

    it('exits with 4 when a region cannot be listed', async () => {
      fixture.simulator.faults.add({ kind: 'answer', operation: 'list', region: 'us1', status: 503 });
      const result = await runCommand(['reconcile'], settings());
      expect(result.code).toBe(4);
      expect(result.stdout).toMatch(/error in us1: list jobs in us1: answered 503/);
    });

    it('changes nothing in a dry run', async () => {
      const id = await fixture.lose();
      const result = await runCommand(['reconcile', '--dry-run', '--since', '1h'], settings());
      expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/^.*the store is empty.*\n$/) });
      expect(result.stdout).toMatch(new RegExp(`${id}.*would be fetched`));
      expect(result.stdout).toContain('Pending jobs would be fetched, are');
      expect(await visibleKeys(fixture.folder)).toEqual([]);
    });

    it.each([
      [['--since', 'yesterday'], {}, /--since expects/],
      [['--unknown'], {}, /unknown option/],
      [[], { speech: { apiKey: null } }, /no region is configured/],
    ])('refuses %j with 2 and says why', async (args, more, message) => {
      const result = await runCommand(['reconcile', ...args], settings(more));
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(message);
      expect(await visibleKeys(fixture.folder, 'reports/')).toEqual([]);
    });

    it('refuses to start without an API key', async () => {
      const { eu1 = '' } = fixture.simulator.batchUrls;
      const speech = { apiKey: null, regions: { eu1: { batchUrl: eu1 } } };
      const result = await runCommand(['reconcile'], settings({ speech }));
      expect(result.code).toBe(2);
      expect(result.stderr).toMatch(/apiKey is not configured/);
    });
  });

  describe('refetch on the command line', () => {
    it('fetches one job and prints its outcome', async () => {
      const jobId = await fixture.lose();
      await fixture.lose();
      const result = await runCommand(['refetch', jobId, '--json'], settings());
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(result.stdout)).toMatchObject({ jobId, region: 'eu1', outcome: 'recovered' });
      expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([`jobs/${jobId}/transcript.json`]);
      expect(await ledgerOf(fixture.folder)).toMatchObject([{ jobId, actor: 'command-line' }]);
    });

    it('exits with 3 for an unknown job and with 2 for an invalid id', async () => {
      expect(await runCommand(['refetch', 'unheard-of'], settings())).toMatchObject({
        code: 3,
        stdout: expect.stringMatching(
          /no configured region knows .*\n.* transcript-receiver job unheard-of finds/,
        ),
      });
      for (const id of ['../x', '']) {
        expect(await runCommand(['refetch', id], settings())).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(/^.*"(\.\.\/x)?" is not a job id/),
        });
      }
    });

    it('exits with 4 and says so when it is interrupted', async () => {
      let kill: (signal: NodeJS.Signals) => void = () => {};
      const silent = createServer(() => kill('SIGINT')).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const speech = {
        apiKey: fixture.simulator.apiKey,
        regions: { eu1: { batchUrl: `http://127.0.0.1:${port}/v2` } },
      };
      const result = await runCli(
        ['refetch', 'some-job', '--json'],
        settings({ speech }),
        undefined,
        (given) => {
          kill = given;
        },
      );
      silent.close();
      expect(result).toMatchObject({ code: 4, stderr: '' });
      expect(JSON.parse(result.stdout)).toEqual({
        jobId: 'some-job',
        region: null,
        outcome: 'failed',
        reason: 'the run was interrupted',
        items: [],
      });
    });
  });
});
