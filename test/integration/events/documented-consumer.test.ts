import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';
import { Webhook } from 'standardwebhooks';
import { startS3StandIn } from '../../support/store/s3-stand-in.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/* The snippets of docs/downstream.md, as a reader pastes them: a project of its own that takes the built package. */

const ROOT = join(import.meta.dirname, '../../..');
const SECRET = `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`;
const BODY = JSON.stringify({
  specversion: '1.0',
  id: 'event-1',
  type: 'transcript-receiver.job.stored.v1',
  data: {
    jobId: 'job-1',
    items: [
      { kind: 'jobinfo', uri: 's3://transcripts/jobs/job-1/jobinfo.json' },
      { kind: 'transcript.json-v2', uri: 's3://transcripts/a%20team/jobs/job-1/transcript.json' },
    ],
  },
  name: 'Größe',
});

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let snippets: Map<string, string>;

beforeAll(async () => {
  folder = await temporaryFolder();
  const text = await readFile(join(ROOT, 'docs/downstream.md'), 'utf8');
  const found = text.matchAll(/<!-- snippet: (\S+) -->\n```\w+\n(.*?)^```$/gms);
  snippets = new Map([...found].map(([, name = '', code = '']) => [name, code]));
  await mkdir(join(folder.path, 'node_modules'));
  await symlink(ROOT, join(folder.path, 'node_modules/transcript-receiver'));
  for (const name of ['@aws-sdk', 'standardwebhooks'])
    await symlink(join(ROOT, 'node_modules', name), join(folder.path, 'node_modules', name));
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
  for (const [name, code] of snippets) await writeFile(join(folder.path, name), code);
});
afterAll(() => folder.remove());

describe('the snippets of docs/downstream.md', () => {
  it('pass the type checker with --strict', async () => {
    const names = [...snippets.keys()].filter((name) => name.endsWith('.ts'));
    expect(names).toEqual(['verify.ts', 'handle.ts']);
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const options = ['--ignoreConfig', '--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext'];
    const args = [...options, '--target', 'es2023', ...types, ...names];
    expect(await run(join(ROOT, 'node_modules/.bin/tsc'), args, folder.path)).toBe('');
  });

  it('verify an event and read the transcript it announces', async () => {
    const s3 = await startS3StandIn();
    try {
      const transcript = '{"format":"2.9"}';
      await fetch(`${s3.endpoint}/transcripts/a%20team/jobs/job-1/transcript.json`, {
        method: 'PUT',
        body: transcript,
      });
      for (const name of ['verify', 'handle']) {
        const options = { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } } as const;
        const { code } = transformSync(snippets.get(`${name}.ts`) ?? '', options);
        await writeFile(join(folder.path, `${name}.js`), code);
      }
      await writeFile(join(folder.path, 'main.js'), MAIN);
      const requests = [
        { headers: signed(), body: BODY },
        { headers: signed(), body: BODY.replace('job-1', 'job-2') },
      ];
      const said = await run(
        process.execPath,
        ['main.js', JSON.stringify({ requests, secret: SECRET, endpoint: s3.endpoint })],
        folder.path,
      );
      expect(said).toBe(`${transcript}\nWebhookVerificationError\n`);
    } finally {
      await s3.close();
    }
  });

  const python = spawnSync('python3', ['--version']).status === 0;
  (python ? it : it.skip)('verify an event in Python', async () => {
    const other = `whsec_${Buffer.alloc(32, 'other').toString('base64')}`;
    const cases: readonly (readonly [Record<string, string>, string])[] = [
      [signed(), BODY],
      [signed([other, SECRET]), BODY],
      [signed([other]), BODY],
      [signed(), `${BODY} `],
      [signed([SECRET], 400_000), BODY],
      [{ ...signed(), 'webhook-signature': 'v1,é' }, BODY],
    ];
    const said = await run('python3', ['-c', PYTHON, JSON.stringify({ cases, secret: SECRET })], folder.path);
    expect(said).toBe('yes yes no no no no\n');
  });
});

/** The headers of an event of some milliseconds ago. */
function signed(secrets: readonly string[] = [SECRET], age = 0): Record<string, string> {
  const at = new Date(Date.now() - age);
  return {
    'webhook-id': 'event-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('event-1', at, BODY)).join(' '),
  };
}

/** Serves the requests of its argument to the snippets. */
const MAIN = `
import { createServer } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { transcriptOf } from './handle.js';
import { readEvent } from './verify.js';

const { requests, secret, endpoint } = JSON.parse(process.argv[2]);
const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
const server = createServer(async (request, response) => {
  try {
    response.end(await transcriptOf(await readEvent(request, secret), s3));
  } catch (error) {
    response.writeHead(401).end(error.name);
  }
}).listen(0, '127.0.0.1', async () => {
  for (const { headers, body } of requests) {
    const answer = await fetch('http://127.0.0.1:' + server.address().port, { method: 'POST', headers, body });
    console.log(await answer.text());
  }
  process.exit();
});
`;

const PYTHON = `
import json, sys
from verify import verify
given = json.loads(sys.argv[1])
def accepted(headers, body):
    try:
        verify(body.encode(), headers, given["secret"])
        return "yes"
    except ValueError:
        return "no"
print(*[accepted(*case) for case in given["cases"]])
`;

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
