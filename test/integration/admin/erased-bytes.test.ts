import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { mergeLedger } from '../../support/ledger/merge-ledger.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

/** In bodies, and in every name that a sender may choose. */
const SECRET = 'Jane Roe, 1980-02-03';
const TRANSCRIPT = (text: string) =>
  JSON.stringify({ format: '2.9', job: { id: 'e1' }, metadata: {}, results: [], text });

let service: RunningService;
let api: AdminApi;
beforeAll(async () => {
  service = await startService({
    sources: { default: {}, team: { keyPrefix: 'team/' } },
    ledger: { merge: false },
  });
  api = adminApi(service);
});
afterAll(() => service.stop());

const send = (body: string, type: string, source = 'default') =>
  sendCallback(service, 'id=e1&status=success', body, { 'content-type': type }, source);

function form(transcript: string, media: string): string {
  const part = (head: string, body: string) =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  return [
    part(`name="transcript"; filename="${SECRET}.json"`, TRANSCRIPT(transcript)),
    part(`name="${SECRET}"; filename="${SECRET}.docx"\r\nContent-Type: a/b; name="${SECRET}"`, SECRET),
    part(`name="data"; filename="${SECRET}.wav"`, media),
    '--b--\r\n',
  ].join('');
}

/** Every file whose path or bytes hold the secret, as it is or percent-encoded. */
async function filesWithSecret(): Promise<string[]> {
  const texts = [SECRET, encodeURIComponent(SECRET)];
  const found: string[] = [];
  for (const entry of await readdir(service.folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const bytes = entry.isFile() ? await readFile(path) : Buffer.alloc(0);
    if (texts.some((text) => path.includes(text) || bytes.includes(text))) found.push(path);
  }
  return found;
}

/** The lines of the merged ledger: its bytes are compressed. */
async function mergedLines(): Promise<string> {
  const store = createFileStore({ directory: service.folder, partSize: 64 * 1024 });
  const tomorrow = Date.now() + 86_400_000;
  const { records, faults } = await mergeLedger({ store, clock: () => tomorrow, keepSegments: null });
  expect([records > 0, faults]).toEqual([true, []]);
  let text = '';
  for await (const { key } of store.list('ledger-hours/'))
    if (key.endsWith('.gz')) text += gunzipSync(await readFile(join(service.folder, key))).toString();
  return text;
}

describe('what is left of an erased job', () => {
  it('holds no byte of its content and no name from it', async () => {
    const media = SECRET.repeat(10_000);
    const multipart = 'multipart/form-data; boundary=b';
    for (const source of ['default', 'team']) {
      expect((await send(form(SECRET, media), multipart, source)).json).toMatchObject({ outcome: 'stored' });
      expect((await send(form(`${SECRET}!`, `${media}!`), multipart, source)).json).toMatchObject({
        outcome: 'conflict',
      });
      expect((await send(`{"${SECRET}`, `application/json; name="${SECRET}"`, source)).status).toBe(202);
      expect((await send(SECRET, `text/plain; name="${SECRET}"`, source)).status).toBe(200);
    }
    const released = await send(
      `--b\r\nX: 1\r\n\r\n${SECRET}\r\n--b--\r\n`,
      'multipart/form-data; boundary=c',
    );
    await api.post(`/quarantine/${released.json.deliveryId}/release`).send({});
    const files = [['file', SECRET]] as const;
    for (const [name, body] of files)
      await api.post('/jobs/e1/artefacts').attach(name, Buffer.from(body), { filename: `${SECRET}.txt` });
    // What processes that were killed have left: a temporary file, and metadata without an object.
    const store = createFileStore({ directory: service.folder, partSize: 1024 * 1024, fsync: false });
    const upload = await store.startUpload('team/jobs/e1/data', { contentType: 'a/b', metadata: {} });
    await upload.write(Buffer.from(SECRET));
    expect((await filesWithSecret()).length).toBeGreaterThan(20);

    const { body } = await api.delete('/jobs/e1').send({ reason: 'asked to be forgotten' });
    expect(body).toMatchObject({ complete: true, kept: null, erased: { uploads: 1 } });
    expect(await filesWithSecret()).toEqual([]);
    expect(await mergedLines()).not.toContain('Jane');
    expect(await filesWithSecret()).toEqual([]);
    await upload.abort();
  });

  it('stays that way: later callbacks are noted, an import is rejected', async () => {
    const late = [
      await send(form(SECRET, SECRET), 'multipart/form-data; boundary=b'),
      await send(form(SECRET, SECRET.repeat(10_000)), 'multipart/form-data; boundary=b', 'team'),
      await send(`{"${SECRET}`, 'application/json'),
    ];
    for (const { status, json } of late)
      expect([status, json.outcome, json.items]).toEqual([200, 'noted', []]);
    expect(await filesWithSecret()).toEqual([]);
    const lines = (await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'noted');
    expect(lines.map(({ reason, items }) => [reason, items])).toEqual(late.map(() => ['erased', []]));
    const refused = await api.post('/jobs/e1/artefacts').attach('file', Buffer.from(SECRET), 'a.txt');
    expect(refused.body).toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/erased on 2.*another job id/),
    });
    expect((await api.get('/jobs/e1')).body.erasure).toMatchObject({ complete: true, keptUntil: null });
  });
});
