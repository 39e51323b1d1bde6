import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

let service: RunningService;
beforeEach(async () => {
  service = await startService();
  for (const id of ['j1', 'j2', 'j3'])
    await sendCallback(service, `id=${id}&status=success`, 'Hello', { 'content-type': 'text/plain' });
});
afterEach(() => service.stop());

const cli = (...args: string[]) =>
  runCommand(args, { NODE_CONFIG: JSON.stringify({ store: { url: `file:${service.folder}` } }) });

const QUESTIONS = [
  ['deliveries', '--since', '1h'],
  ['deliveries', '--csv'],
  ['failures'],
  ['summary', '--since', '1h'],
  ['status'],
  ['job', 'j1'],
];

describe('commands that ask the index', () => {
  it('say in one sentence which segment is lost, and nothing while none is', async () => {
    const key = (await visibleKeys(service.folder, 'ledger/'))[1] ?? '';
    const sentence = `Not in the index of the ledger: ${key}, which is missing.`;
    const said = async (args: readonly string[]) => {
      const { stdout, stderr } = await cli(...args);
      return (stdout + stderr).split(sentence).length - 1;
    };
    for (const args of QUESTIONS) expect([args, await said(args)]).toEqual([args, 0]);
    expect(await cli('deliveries')).toMatchObject({ code: 0, stderr: '' });
    await rm(path.join(service.folder, key));
    for (const args of QUESTIONS) expect([args, await said(args)]).toEqual([args, 1]);
    expect((await cli('failures')).stdout).toMatch(/^No failing job was found, by 2 ledger lines in /);
    // A sum without it is not whole.
    for (const options of [[], ['--json'], ['--csv']])
      expect(await cli('summary', ...options)).toMatchObject({ code: 3 });
    const { code, stdout } = await cli('deliveries', '--json');
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toEqual({
      deliveries: [expect.objectContaining({ jobId: 'j3' }), expect.objectContaining({ jobId: 'j1' })],
      index: {
        since: null,
        until: expect.any(String),
        missing: [{ key, segments: 1, unreadable: null }],
      },
    });
  });
});
