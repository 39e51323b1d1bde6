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
  runCommand(args, {
    NODE_CONFIG: JSON.stringify({
      store: { url: `file:${service.folder}` },
      sources: { default: {}, guarded: { credentials: { main: { headers: ['X-T: a-secret-of-sixteen'] } } } },
      subscribers: { crm: { url: 'http://127.0.0.1:9/', secrets: [`whsec_${'a'.repeat(32)}`] } },
    }),
  });

const QUESTIONS = [
  ['deliveries', '--since', '1h'],
  ['deliveries', '--csv'],
  ['failures'],
  ['quarantine'],
  ['subscribers'],
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
    const answers = async () => {
      let text = '';
      for (const name of ['quarantine', 'subscribers', 'status']) text += (await cli(name)).stdout;
      return text;
    };
    const whole = await answers();
    for (const none of [
      /^No body is waiting\.$/m,
      /; none waits$/m,
      /^guarded\/main: not used in the last 7/m,
    ])
      expect(whole).toMatch(none);
    await rm(path.join(service.folder, key));
    const partly = await answers();
    for (const unknown of [
      /^No body is waiting, as far as is known\.$/m,
      /; whether one waits is unknown$/m,
      /^guarded\/main: use unknown$/m,
    ])
      expect(partly).toMatch(unknown);
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
