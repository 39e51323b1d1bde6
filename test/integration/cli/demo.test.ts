import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { PROGRAM_ENVIRONMENT } from '../../support/processes/program-environment.js';
import { runCli } from '../../support/processes/run-cli.js';
import { until } from '../../support/until.js';

const BINARY = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

describe('the demo', () => {
  it.concurrent('ends by itself on a build server', async () => {
    expect(await runCli(['demo'], { CI: 'true' })).toMatchObject({ code: 0, stderr: '' });
  });

  it.concurrent('recovers what was lost, then runs until it is stopped, and the commands it suggests work', async () => {
    const child = spawn(process.execPath, [BINARY, 'demo'], {
      env: PROGRAM_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    try {
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      await until(() => /Why would a callback[\s\S]+explain.*\n/.test(said));
      expect(said).toMatch(/given up after 4 attempts/);
      expect(said).toMatch(/9 jobs are complete, 4 are not/);
      const [fetched = ''] = /5\. Fetch[\s\S]+6\. /.exec(said) ?? [];
      expect(fetched.match(/ recovered/g)).toHaveLength(4);
      expect(said).toMatch(/18 of 18 artefacts/);
      const [, transcript = '', id = ''] = /rm (\S+\/jobs\/(\w+)\/\S+)/.exec(said) ?? [];
      const [, folder = ''] = /NODE_CONFIG_DIR=(\S+)/.exec(said) ?? [];
      await rm(transcript);
      await until(() => new RegExp(`^${id}.* recovered`, 'm').test(said));
      expect(existsSync(transcript)).toBe(true);
      const explained = await runCli(['explain', '--address', '8.8.8.8'], { NODE_CONFIG_DIR: folder });
      expect(explained).toMatchObject({ code: 0, stdout: expect.stringMatching(/rejected with 403/) });
      child.kill('SIGINT');
      expect(await ended).toEqual([0, null]);
      expect(existsSync(folder)).toBe(false);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
