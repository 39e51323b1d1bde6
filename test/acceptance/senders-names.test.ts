import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

let service: RunningService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

/** Of every file that is in the store, dot-folders included: its path and its content. */
async function everythingKept(): Promise<string> {
  const entries = await readdir(service.folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'latin1')));
  return [...files, ...texts].join('\n');
}

it('keeps names of parts and files beside the attachment alone, so that they end with it', async () => {
  const form = new FormData();
  form.set('Jane Roe', new Blob(['\0'], { type: 'x/y' }), 'born 1980-02-03.docx');
  const callback = `${service.publicUrl}/callbacks/default?id=names1&status=success`;
  expect((await fetch(callback, { method: 'POST', body: form })).status).toBe(200);
  const [key = ''] = await visibleKeys(service.folder, 'jobs/names1/');
  expect(key).toMatch(/^jobs\/names1\/attachments\/[0-9a-f]{16}\.docx$/);
  expect(JSON.stringify(await ledgerOf(service.folder))).not.toMatch(/Jane|1980/);
  const kept = await everythingKept();
  for (const name of ['Jane%20Roe', 'born%201980-02-03.docx']) expect(kept).toContain(name);

  const erased = await fetch(`${service.adminUrl}/admin/api/jobs/names1`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'asked to' }),
  });
  expect(erased.status).toBe(200);
  await until(async () => !(await everythingKept()).includes('1980'));
  expect(await everythingKept()).not.toContain('Jane');
  expect(service.log.filter((line) => /Jane|1980/.test(JSON.stringify(line)))).toEqual([]);
});
