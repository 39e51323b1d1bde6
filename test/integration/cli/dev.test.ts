import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { PROGRAM_ENVIRONMENT } from '../../support/processes/program-environment.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A copy of the project whose sources a test may change. */
async function projectCopy() {
  const folder = await temporaryFolder();
  for (const name of ['src', 'config', 'scripts', 'package.json']) {
    cpSync(join(ROOT, name), join(folder.path, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  return folder;
}

it('npm run dev restarts the service when a source changes, and Ctrl-C ends every process', async () => {
  const copy = await projectCopy();
  const main = join(copy.path, 'src/main.ts');
  const dev = spawn('npm', ['run', '--silent', 'dev'], {
    cwd: copy.path,
    env: { ...PROGRAM_ENVIRONMENT, TR_PORT: '0', TR_ADMIN_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: a terminal sends Ctrl-C to the whole group.
    detached: true,
  });
  const ended = once(dev, 'close');
  let output = '';
  for (const stream of [dev.stdout, dev.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  // On a busy machine the store is not proven in the seconds that the welcome waits for it.
  try {
    await until(() => /Transcript Receiver (is ready|listens)/.test(output));
    expect(output).toContain('http://127.0.0.1:');
    writeFileSync(
      main,
      "process.stdout.write('the changed source runs\\n');\nsetInterval(() => {}, 1000);\n",
    );
    await until(() => output.includes('the changed source runs'));
    process.kill(-(dev.pid as number), 'SIGINT');
    // Emitted once no process holds the pipes any more.
    await ended;
  } finally {
    if (dev.exitCode === null && dev.signalCode === null) process.kill(-(dev.pid as number), 'SIGKILL');
    await copy.remove();
  }
});
