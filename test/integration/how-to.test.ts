import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { freePort } from '../support/http/free-port.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { PROGRAM_ENVIRONMENT } from '../support/processes/program-environment.js';
import type { CliResult } from '../support/processes/run-cli.js';
import { runCommand } from '../support/processes/run-command.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';
import { startS3StandIn } from '../support/store/s3-stand-in.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/* The pages of docs/how-to: their commands in their order, over a store in the situation that the page describes. */

const ROOT = join(import.meta.dirname, '../..');

let lost: LostJobs;
let service: RunningService;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  lost = await lostJobs();
  folder = await temporaryFolder();
  const shim = join(folder.path, 'transcript-receiver');
  await writeFile(shim, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist/main.js')}" "$@"\n`);
  await chmod(shim, 0o755);
  service = await startService({ sources: { intake: { context: ['customer'], maxBytes: 2000 } } });
});

afterAll(async () => {
  await service.stop();
  await lost.simulator.close();
  await folder.remove();
});

/** The code blocks of a page in a language. */
async function blocks(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const found = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms'));
  return [...found].map(([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** A command without a quotation, a pipe or a redirection, of which a shell makes nothing else. */
const PLAIN = /^transcript-receiver(?: [\w.:/=-]+)+$/;

/** Runs lines in a shell in the folder, or without one where they need none; `more` are settings beside the store and the service. */
async function shell(text: string, more: object = {}): Promise<CliResult> {
  const settings = {
    store: { url: `file:${service.folder}` },
    sources: { intake: { context: ['customer'], contents: ['transcript'], allowUnauthenticated: true } },
    ...lost.settings,
    ...more,
  };
  const env = {
    ...PROGRAM_ENVIRONMENT,
    PATH: `${folder.path}:${PROGRAM_ENVIRONMENT.PATH}`,
    NODE_CONFIG: JSON.stringify(settings),
  };
  const lines = text.trim().split('\n');
  if (!lines.every((line) => PLAIN.test(line)))
    return new Promise((resolve) => {
      execFile('sh', ['-c', text], { env, cwd: folder.path }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  let all: CliResult = { code: 0, stdout: '', stderr: '' };
  for (const line of lines) {
    const { code, stdout, stderr } = await runCommand(line.split(' ').slice(1), env, folder.path);
    all = { code, stdout: all.stdout + stdout, stderr: all.stderr + stderr };
  }
  return all;
}

const send = (query: string, body?: string) =>
  sendCallback(service, query, body, { 'content-type': 'application/json' }, 'intake');

describe('a-transcript-is-missing.md', () => {
  it('leads from a lost callback to the transcript, by the commands of the page and those that they print', async () => {
    const id = await lost.lose();
    const [look = '', unknown = ''] = (await blocks('a-transcript-is-missing.md', 'sh')).map((block) =>
      block.replaceAll('650krlru2e', id),
    );
    const missing =
      /: Missing\nThe service [\s\S]*, region eu1: status .*\n {2}The service reports no errors\./;
    expect(await shell(look)).toMatchObject({ code: 2, stdout: expect.stringMatching(missing) });
    const [printed] = /transcript-receiver refetch \S+/.exec((await shell(look)).stdout) ?? [];
    expect(await shell(printed ?? 'false')).toMatchObject({ code: 0 });
    expect(await shell(look)).toMatchObject({ code: 0, stdout: expect.stringMatching(/: Stored\n/) });
    for (const line of unknown.trim().split('\n')) expect(await shell(line)).toMatchObject({ code: 0 });
    expect((await shell('transcript-receiver failures')).stdout).toMatch(/^No job is failing/m);
  });
});

describe('delete-a-customer.md', () => {
  it('lists the jobs of the customer, and erases them and those of a list', async () => {
    await send('id=acme1&status=success&customer=acme', '{"id":"acme1"}');
    await send('id=other&status=success&customer=other', '{"id":"other"}');
    await writeFile(join(folder.path, 'ids.txt'), 'unknown1\n');
    const page = await blocks('how-to/delete-a-customer.md', 'sh');
    const [list = '', byContext = '', byList = '', prove = ''] = page;
    const listed = await shell(list);
    expect(listed).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was erased') });
    expect(listed.stderr).toMatch(/^ +acme1 /m);
    expect(listed.stderr).not.toMatch(/^ +other /m);
    expect(await shell(byContext)).toMatchObject({ code: 0 });
    const report = JSON.parse(await readFile(join(folder.path, 'erased-acme.json'), 'utf8'));
    expect(report).toMatchObject({ jobId: 'acme1', actor: 'command-line', reason: 'request 4711' });
    expect(await shell(byList)).toMatchObject({ code: 0 });
    expect(await shell(prove)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Nothing is left of acme1: erased at \S+ by command-line: request 4711\nA job whose callback was lost /,
      ),
    });
    expect((await send('id=acme1&status=success', '{"id":"acme1"}')).json).toMatchObject({
      outcome: 'noted',
    });
    expect((await send('id=unknown1&status=success', '{}')).json).toMatchObject({ outcome: 'noted' });
    expect((await send('id=other&status=success', '{"id":"other"}')).json).toMatchObject({
      outcome: 'duplicate',
    });
  });
});

describe('billing-by-customer.md', () => {
  it('counts what each customer had, and lists the lines behind it', async () => {
    await send('id=bill1&status=success&customer=acme', '{"id":"bill1"}');
    await send('id=bill2&status=success&customer=bolt', '{"id":"bill2"}');
    const [all = '', one = '', lines = ''] = await blocks('how-to/billing-by-customer.md', 'sh');
    expect(await shell(all)).toMatchObject({ code: 0, stderr: '' });
    const csv = await readFile(join(folder.path, 'customers.csv'), 'utf8');
    expect(csv).toMatch(/^customer,deliveries,bytes,/);
    expect(csv).toMatch(/^acme,[1-9]/m);
    expect(csv).toMatch(/^bolt,1,/m);
    expect((await shell(one)).stdout).toMatch(/^\d{4}-\d\d-\d\d +[1-9]/m);
    expect((await shell(lines)).code).toBe(0);
    expect(await readFile(join(folder.path, 'acme.csv'), 'utf8')).toContain('bill1');
  });
});

describe('after-a-413.md', () => {
  it('finds the refused callback, and fetches what it carried', async () => {
    const id = await lost.lose(200);
    const body = JSON.stringify({ format: '2.9', results: [], padding: 'x'.repeat(3000) });
    expect((await send(`id=${id}&status=success`, body)).status).toBe(413);
    const page = await blocks('how-to/after-a-413.md', 'sh');
    const [list = '', doctor = '', fetchThem = '', failures = ''] = page;
    expect((await shell(list)).stdout).toContain(id);
    const proxy = createServer((_request, response) => response.writeHead(413).end());
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const ask = (url: string) => shell(doctor.replace('https://transcripts.example.org', url));
    const asked = await ask(address);
    proxy.close();
    // Its callback that is too large is refused as well, and is no job that the service knows.
    expect((await ask(service.publicUrl)).stdout).toMatch(/^ok +public body size/m);
    expect(asked.stdout).toMatch(/^failed +public address: Something in front of the receiver answered 413/m);
    expect((await shell(failures)).stdout).toContain(id);
    expect(await shell(fetchThem)).toMatchObject({ code: 0 });
    expect((await shell(failures)).stdout).toMatch(/^No job is failing/);
  });
});

describe('add-a-region.md', () => {
  it('shows settings that are valid, and admit the addresses of the region', async () => {
    const [yaml = ''] = await blocks('how-to/add-a-region.md', 'yaml');
    const { eu1 = '' } = lost.simulator.batchUrls;
    const { egress, speech, sources } = parse(yaml.replace('https://eu3.speech.example.com', eu1));
    const settings = {
      egress,
      speech: { apiKey: lost.simulator.apiKey, ...speech },
      sources: { intake: { allowUnauthenticated: true, ...sources.intake } },
    };
    const [check = '', doctor = ''] = await blocks('how-to/add-a-region.md', 'sh');
    const checked = await shell(check, settings);
    expect(checked).toMatchObject({ code: 0 });
    expect(checked.stdout).toContain('eu3');
    const asked = await shell(doctor, settings);
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +service eu3: It answers/m) });
  });
});

describe('try-recovery.md', () => {
  it('fetches what the simulator never sent', async () => {
    const own = await startService();
    const port = await freePort();
    const [start = '', simulate = '', reconcile = ''] = await blocks('how-to/try-recovery.md', 'sh');
    const [, settings = ''] = /NODE_CONFIG='(.*)'/.exec(start) ?? [];
    const env = {
      ...PROGRAM_ENVIRONMENT,
      PATH: `${folder.path}:${PROGRAM_ENVIRONMENT.PATH}`,
      TR_SPEECH_API_KEY: /TR_SPEECH_API_KEY=(\S+)/.exec(start)?.[1] ?? '',
      TR_SPEECH_EU1_URL: `http://127.0.0.1:${port}`,
      NODE_CONFIG: JSON.stringify({ ...JSON.parse(settings), store: { url: `file:${own.folder}` } }),
    };
    const command = simulate
      .replace('npx transcript-receiver simulate', 'exec transcript-receiver simulate --seed a')
      .replace('=9100', `=${port}`)
      .replace('http://127.0.0.1:8080', own.publicUrl);
    const simulator = spawn('sh', ['-c', command], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      let said = '';
      simulator.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      await until(() => said.includes('finished'));
      const [, dropped = ''] = /"dropped":(\d+)/.exec(said) ?? [];
      const { stdout } = await runCommand(reconcile.trim().split(' ').slice(2), env, folder.path);
      expect(stdout).toMatch(new RegExp(`^  recovered +${dropped}$`, 'm'));
      expect(Number(dropped)).toBeGreaterThan(0);
    } finally {
      simulator.kill('SIGKILL');
      await own.stop();
    }
  });
});

describe('alert-without-prometheus.md', () => {
  it('shows settings that are valid, and commands that judge', async () => {
    const [yaml = ''] = await blocks('how-to/alert-without-prometheus.md', 'yaml');
    const filled = yaml
      .replaceAll(/\$\{env:SLACK\w+\}/g, 'http://127.0.0.1:9/')
      .replaceAll(/\$\{env:EVENT\w+\}/g, `whsec_${Buffer.alloc(32, 's').toString('base64')}`);
    const [doctor = '', status = ''] = await blocks('how-to/alert-without-prometheus.md', 'sh');
    const asked = await shell(doctor, parse(filled));
    expect(asked.stdout).toMatch(/subscriber on-call/);
    expect([0, 1, 2]).toContain((await shell(status)).code);
  });
});

/** A test that runs where Python has the module. */
const withPython = (module: string) =>
  spawnSync('python3', ['-c', `import ${module}`]).status === 0 ? it : it.skip;

describe('read-from-python.md', () => {
  withPython('json')('reads the transcripts of a file store', async () => {
    await send('id=python1&status=success', '{"format":"2.9","job":{},"metadata":{},"results":[]}');
    const [code = ''] = await blocks('how-to/read-from-python.md', 'python');
    await writeFile(join(folder.path, 'read_files.py'), code);
    const found = await shell(
      `python3 -c 'from read_files import *; print([job for job, _ in transcripts("${service.folder}")])'`,
    );
    expect(found.stdout).toContain('python1');
  });

  withPython('boto3')('reads a transcript from S3', async () => {
    const bucket = await startS3StandIn();
    try {
      const [, code = ''] = await blocks('how-to/read-from-python.md', 'python');
      await writeFile(join(folder.path, 'read_s3.py'), code);
      bucket.state.put('receiver/jobs/s3job/transcript.json', Buffer.from('{"format":"2.9"}'), {});
      const found = await shell(
        `AWS_ENDPOINT_URL_S3=${bucket.endpoint} AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret \
         AWS_DEFAULT_REGION=us-east-1 python3 -c 'from read_s3 import *; print(transcript("bucket", "s3job", "receiver/"))'`,
      );
      expect(found).toMatchObject({ code: 0, stdout: "{'format': '2.9'}\n" });
    } finally {
      await bucket.close();
    }
  });
});

describe('move-a-store.md', () => {
  it('copies a folder to a bucket, what came meanwhile as well, and finds all of it there', async () => {
    const standIn = await startS3StandIn();
    const store = {
      url: 's3://example-transcripts/production',
      s3: {
        endpoint: standIn.endpoint,
        region: 'us-east-1',
        forcePathStyle: true,
        accessKeyId: 'AKIATEST',
        secretAccessKey: 'very-secret-key',
      },
    };
    try {
      const [first = '', again = '', prove = ''] = (await blocks('how-to/move-a-store.md', 'sh')).map(
        (block) => block.replaceAll('file:./data', `file:${service.folder}`),
      );
      await send('id=moved1&status=success', '{"id":"moved1"}');
      expect(await shell(first, { store })).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /has written to .* within the last \d+ s: if it still runs, stop it and copy again/,
        ),
      });
      await send('id=moved2&status=success', '{"id":"moved2"}');
      const moved = await shell(again, { store });
      expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining('All is there') });
      expect(moved.stdout).toMatch(/^The copy is a store of its own, [0-9a-f-]{36}: set store\.url to it/m);
      expect(moved.stdout).toMatch(/^Every object has a new age in the copy\. /m);
      expect(standIn.state.objects.has('production/jobs/moved2/jobinfo.json')).toBe(true);
      expect(await shell(prove, { store })).toMatchObject({ code: 0 });
    } finally {
      await standIn.close();
    }
  });
});
