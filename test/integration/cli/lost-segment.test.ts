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
] as const;

describe('commands that ask the index', () => {
  it('say in one sentence which segment is lost, and claim nothing that needs it', async () => {
    const key = (await visibleKeys(service.folder, 'ledger/'))[1] ?? '';
    const sentence = `Not in the index of the ledger: ${key}, which is missing.`;
    const say = async (args: readonly string[]) => {
      const { stdout, stderr } = await cli(...args);
      return stdout + stderr;
    };
    expect(await cli('deliveries')).toMatchObject({ code: 0, stderr: '' });
    for (const [command, none] of [
      ['quarantine', /^No body is waiting\.$/m],
      ['subscribers', /; none waits$/m],
      ['status', /^guarded\/main: not used in the last 7/m],
    ] as const)
      expect(await say([command])).toMatch(none);
    await rm(path.join(service.folder, key));
    const answers = new Map<string, string>();
    for (const args of QUESTIONS) {
      const [command] = args;
      const text = await say(args);
      expect([args, text.split(sentence).length - 1]).toEqual([args, 1]);
      answers.set(command, text);
    }
    for (const [command, unknown] of [
      ['quarantine', /^No body is waiting, as far as is known\.$/m],
      ['subscribers', /; whether one waits is unknown$/m],
      ['status', /^guarded\/main: use unknown$/m],
      ['failures', /^No failing job was found, by 2 ledger lines in /m],
    ] as const)
      expect(answers.get(command)).toMatch(unknown);
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
