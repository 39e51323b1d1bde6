import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../support/http/free-port.js';
import { ownAddress } from '../support/http/own-address.js';
import { PROGRAM_ENVIRONMENT } from '../support/processes/program-environment.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

describe('without anybody who reads what is printed', () => {
  it('receives, and ends by SIGINT, beside a full disk', async () => {
    const folder = await temporaryFolder();
    const full = openSync('/dev/full', 'w');
    // Nothing says which port it has, so that it is chosen before.
    const host = ownAddress();
    const port = await freePort();
    const child = spawn(process.execPath, [MAIN], {
      env: {
        ...PROGRAM_ENVIRONMENT,
        NODE_CONFIG: JSON.stringify({
          receiver: { host, port, drainDelay: '0s' },
          admin: { port: 0 },
          store: { url: `file:${folder.path}` },
        }),
      },
      stdio: ['ignore', full, full],
    });
    closeSync(full);
    const ended = once(child, 'exit');
    try {
      const address = `http://${host}:${port}`;
      await until(async () => (await fetch(`${address}/readyz`).catch(() => null))?.ok === true);
      for (const id of ['one', 'two']) {
        const sent = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'Hello.' };
        const answer = await fetch(`${address}/callbacks/default?id=${id}&status=success`, sent);
        expect(answer.status).toBe(200);
      }
      child.kill('SIGINT');
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
      await folder.remove();
    }
  });

  it('ends a command as after SIGPIPE', async () => {
    const child = spawn(process.execPath, [MAIN, 'failures', '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [errors, ended] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([errors, ended]).toEqual(['', [141, null]]);
  });

  it('ends a command with an error when its output does not fit into its file', async () => {
    const folder = await temporaryFolder();
    const limited = 'ulimit -f 1; exec "$0" "$@" > printed';
    const child = spawn('sh', ['-c', limited, process.execPath, MAIN, 'reasons'], {
      cwd: folder.path,
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    const [errors, ended] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    await folder.remove();
    expect([errors, ended]).toEqual(['transcript-receiver: EFBIG: file too large, write\n', [1, null]]);
  });
});

describe('the first start', () => {
  it('ends with the welcome, after few lines of its own, and is silent then', async () => {
    const folder = await temporaryFolder();
    const child = spawn(process.execPath, [MAIN], {
      env: {
        ...PROGRAM_ENVIRONMENT,
        NODE_CONFIG: JSON.stringify({
          receiver: { port: 0, drainDelay: '0s' },
          admin: { port: 0 },
          store: { url: `file:${folder.path}/data` },
        }),
      },
      cwd: folder.path,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    const ended = once(child, 'close');
    try {
      const start = ['store-begun', 'listening', 'configuration', 'index-in-memory', 'ready'];
      // On a busy machine the welcome does not wait for all of the start: it says so, and what is left of the lines comes after it.
      await until(async () =>
        [/\n {2}curl .*\n/, ...start.map((event) => new RegExp(`"event":"${event}"`))].every((each) =>
          each.test(output),
        ),
      );
      child.kill('SIGTERM');
      await ended;
      const welcome =
        /Transcript Receiver (is ready\.|listens, but cannot accept callbacks yet: .*)\n[\s\S]*\n {2}curl .*\n/;
      const [before = '', heading = '', after = ''] = output.split(welcome);
      const eventOf = (line: string) => String(JSON.parse(line).event);
      const [logged = [], later = []] = [before, after].map((text) =>
        text.split('\n').filter(Boolean).map(eventOf),
      );
      const isReady = heading.startsWith('is ready');
      const expected = [...start, ...(isReady ? [] : ['not-ready']), 'draining', 'stopped'];
      const late = isReady ? ['index-in-memory'] : start;
      expect([...logged, ...later].sort()).toEqual(expected.sort());
      expect(later.filter((event) => !late.includes(event))).toEqual(['draining', 'stopped']);
    } finally {
      child.kill('SIGKILL');
      await folder.remove();
    }
  });
});
