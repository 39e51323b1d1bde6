import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { adminApi } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

/** The year alone would be found in a hash or a time by chance. */
const NAMES = /Jane|Schmidt|born|1980-?02/i;

/* All at the same time, each with a receiver of its own: an erasure takes two seconds. */

const services: RunningService[] = [];
afterAll(async () => {
  for (const service of services) await service.stop();
});

async function start(): Promise<RunningService> {
  const service = await startService();
  services.push(service);
  return service;
}

function unlessMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

/** Path and content of every file in the store, dot-folders included. */
async function everythingKept(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // The service writes its own objects meanwhile, whose temporary files vanish.
  const texts = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(unlessMissing)));
  return [...files, ...texts].join('\n');
}

async function eraseCompletely(service: RunningService, ...jobIds: string[]): Promise<void> {
  const api = adminApi(service);
  const answers = await Promise.all(
    jobIds.map((id) => api.delete(`/jobs/${id}`).send({ reason: 'asked to' })),
  );
  expect(answers.map(({ status }) => status)).toEqual(jobIds.map(() => 200));
  await until(async () => !NAMES.test(await everythingKept(service.folder)));
}

it.concurrent('keeps nothing of a name in the types and codings that a ledger line records', async () => {
  const service = await start();
  const type = 'application/x-Patient.Jane-Roe_1980';
  const send = (id: string) =>
    supertest(service.publicUrl).post(`/callbacks/default?id=${id}&status=success`);
  await send('names3').set('content-type', type).send('said').expect(200);
  const part = [
    '--b',
    'Content-Disposition: form-data; name="data"; filename="Jane"',
    `Content-Type: ${type}+json; charset=Jane`,
    'Content-Transfer-Encoding: Jane-Roe',
    '',
    'said',
    '--b--',
  ];
  await send('names4')
    .set('content-type', 'multipart/form-data; boundary=b')
    .send(part.join('\r\n'))
    .expect(200);
  await send('names5')
    .set({ 'content-type': 'multipart/x-Jane-Roe', 'content-encoding': 'Jane-Roe', 'user-agent': 'Jane Roe' })
    .send('said')
    .expect(202);
  expect(await everythingKept(service.folder)).toMatch(NAMES);
  const lines = await ledgerOf(service.folder);
  const shapes = lines.filter(({ jobId }) => /^names[345]$/.test(jobId ?? '')).map(({ shape }) => shape);
  expect(shapes).toEqual([
    { contentType: 'other', framing: 'sized' },
    {
      contentType: 'multipart/form-data',
      framing: 'sized',
      parts: [{ name: 'data', contentType: 'other', transferEncoding: 'other', bytes: 4 }],
    },
    { contentType: 'other', contentEncoding: 'other', framing: 'sized' },
  ]);
  await eraseCompletely(service, 'names3', 'names4', 'names5');
  expect(service.log.filter((line) => NAMES.test(JSON.stringify(line)))).toEqual([]);
});

it.concurrent('keeps names of parts and files beside the attachment alone, so that they end with it', async () => {
  const service = await start();
  await supertest(service.publicUrl)
    .post('/callbacks/default?id=names1&status=success')
    .attach('Jane Roe', Buffer.from('\0'), { filename: 'born 1980-02-03.docx', contentType: 'x/y' })
    .expect(200);
  const [key = ''] = await visibleKeys(service.folder, 'jobs/names1/');
  expect(key).toMatch(/^jobs\/names1\/attachments\/[0-9a-f]{16}\.docx$/);
  expect(JSON.stringify(await ledgerOf(service.folder))).not.toMatch(NAMES);
  const kept = await everythingKept(service.folder);
  for (const name of ['Jane%20Roe', 'born%201980-02-03.docx']) expect(kept).toContain(name);

  await eraseCompletely(service, 'names1');
  expect(service.log.filter((line) => NAMES.test(JSON.stringify(line)))).toEqual([]);
});
