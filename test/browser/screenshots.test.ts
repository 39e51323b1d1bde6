import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';

const IMAGES = 'docs/images';
let folder: string | null = null;
afterAll(async () => {
  if (folder !== null) await rm(folder, { recursive: true });
});

const COUNT_OF_THE_DAY = `
  import { startDemo } from './scripts/dashboard-demo.mjs';
  const demo = await startDemo();
  const headers = { authorization: 'Bearer ' + demo.token };
  let page = null;
  while (page === null || page.index.until === null || page.index.since !== null) {
    const answer = await fetch(demo.adminUrl + '/admin/api/deliveries?limit=500', { headers });
    if (!answer.ok) throw new Error(await answer.text());
    page = await answer.json();
  }
  console.log(page.deliveries.length);
  await demo.stop();
  process.exit(0);`;

describe('npm run screenshots', () => {
  it('shows a day of history, which the ledger reads', async () => {
    // Without --input-type, which the worker of the index would inherit: Node refuses it for a worker of a file.
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', COUNT_OF_THE_DAY]);
    expect(Number(stdout)).toBe(500);
  });

  it('draws every image of the documentation, without an error in the console', async () => {
    folder = await mkdtemp(join(tmpdir(), 'transcript-receiver-images-'));
    const { stderr } = await promisify(execFile)(process.execPath, ['scripts/screenshots.mjs', folder], {
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    });
    expect(stderr).toBe('');
    expect(await readdir(folder)).toEqual(await readdir(IMAGES));
  });
});
