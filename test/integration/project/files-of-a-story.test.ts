import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { formBody, formType } from '../../support/http/multipart.js';
import type { StoryRequest, Submitted } from '../../support/project/stories.js';
import { lostJobs } from '../../support/recovery/lost-jobs.js';
import { startS3StandIn } from '../../support/store/s3-stand-in.js';

/*
 * How many files of src somebody reads who follows a callback, or a refetch, from the request to its answer: those that run a function
 * meanwhile, by V8's coverage. `STORY_FILES=1 npm test -- test/integration/project/files-of-a-story.test.ts` prints them.
 */

const PROGRAM = fileURLToPath(new URL('../../support/project/story-files.ts', import.meta.url));
const TYPESCRIPT = new URL('../../../scripts/run-typescript.mjs', import.meta.url).href;
/** The first two warm up. What a timer runs in some of the others does not count. */
const TURNS = 12;
const SECRET = 'a-secret-of-the-sender';

const TURN = Array.from({ length: TURNS }, (_, turn) => turn);
const JSON_V2 = JSON.stringify({ format: '2.9', metadata: {}, results: [] });

function callback(jobId: string, type: string, body: string): StoryRequest {
  const path = `/callbacks/crm?id=${jobId}&status=success&customer=acme`;
  return {
    port: 'public',
    path,
    headers: { 'content-type': type, authorization: `Bearer ${SECRET}` },
    body,
  };
}

const form = (jobId: string) =>
  formBody([
    { name: 'jobinfo', fileName: 'jobinfo.json', type: 'application/json', body: `{"id":"${jobId}"}` },
    { name: 'transcript.json-v2', fileName: 'a.json', type: 'application/json', body: JSON_V2 },
    { name: 'transcript.txt', fileName: 'a.txt', type: 'text/plain', body: 'a transcript' },
  ]).toString();

async function filesOf(submitted: Submitted): Promise<Record<string, readonly string[]>> {
  const program = fork(PROGRAM, {
    execArgv: ['--import', TYPESCRIPT],
    // Coverage of functions whose code was kept is less precise.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(program, 'exit');
  program.send(submitted);
  const [found] = await Promise.race([once(program, 'message'), ended]);
  await ended;
  return found;
}

let files: Record<string, readonly string[]>;

beforeAll(async () => {
  const s3 = await startS3StandIn();
  const { simulator, settings, lose } = await lostJobs();
  const lost = await Promise.all(TURN.map(() => lose()));
  const submitted: Submitted = {
    settings: {
      ...settings,
      receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '2s' },
      admin: { host: '127.0.0.1', port: 0 },
      store: {
        url: 's3://transcripts/receiver',
        s3: {
          endpoint: s3.endpoint,
          region: 'us-east-1',
          forcePathStyle: true,
          accessKeyId: 'id',
          secretAccessKey: 'secret',
        },
      },
      recovery: { interval: 'off' },
      sources: {
        crm: {
          context: ['customer'],
          credentials: { first: { headers: [`Authorization: Bearer ${SECRET}`] } },
        },
      },
    },
    stories: {
      json: TURN.map((turn) => callback(`json-${turn}`, 'application/json', JSON_V2)),
      multipart: TURN.map((turn) => callback(`form-${turn}`, formType(), form(`form-${turn}`))),
      refetch: lost.map((id) => ({ port: 'admin', path: `/admin/api/jobs/${id}/refetch` })),
    },
  };
  try {
    files = await filesOf(submitted);
  } finally {
    await Promise.all([simulator.close(), s3.close()]);
  }
});

/** What was reached. Whoever needs one more first asks whether the step belongs beside its caller. */
const MOST: Readonly<Record<string, number>> = { json: 57, multipart: 60, refetch: 70 };

describe('files of src that run a function between a request and its answer', () => {
  it.each(Object.keys(MOST))('are no more than before: %s', (story) => {
    const ran = files[story] ?? [];
    if (process.env.STORY_FILES !== undefined)
      process.stderr.write(`\n${story}: ${ran.length} files\n${ran.join('\n')}\n`);
    expect(ran).toContain('store/s3/wire/s3-sender.ts');
    expect(ran.length).toBeLessThanOrEqual(MOST[story] ?? 0);
  });
});
