import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ReceiverProcess, startProcess } from '../support/receiver-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: ReceiverProcess | undefined;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  await receiver?.destroy();
  await folder.remove();
});

describe('a start without an admin token', () => {
  it.each(['production', 'development'])('prints a link that signs in, in %s', async (NODE_ENV) => {
    const started = await startProcess(
      { receiver: { host: '127.0.0.1', port: 0 }, admin: { port: 0 }, store: { url: `file:${folder.path}` } },
      { NODE_ENV, TR_LOG_PRETTY: 'false' },
    );
    receiver = started;
    const health = await fetch(`${started.adminUrl}/admin/api/health`);
    expect(health.status).toBe(401);
    const printed = () => /#token=(\S+)/.exec(started.output.join('\n'))?.[1] ?? '';
    await until(() => printed() !== '');
    const token = printed();
    const signedIn = await fetch(`${started.adminUrl}/admin/api/health`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(signedIn.status).toBe(200);
    expect(JSON.stringify(started.log)).not.toContain(token);
  });
});

describe('a start', () => {
  const settings = (port: number) => ({
    receiver: { host: '127.0.0.1', port, drainDelay: 0 },
    admin: { port: 0 },
    store: { url: `file:${folder.path}` },
  });

  it('that finds its port in use names the setting to change, in one line, and fails', async () => {
    receiver = await startProcess(settings(0));
    const port = Number(new URL(receiver.publicUrl).port);
    const failed = await startProcess(settings(port)).catch((error: Error) => error.message);
    const [, ...said] = String(failed).trim().split('\n');
    expect(failed).toMatch(/^the receiver ended with 1:/);
    expect(said).toHaveLength(1);
    expect(JSON.parse(said[0] ?? '')).toMatchObject({
      msg: `port ${port} on 127.0.0.1 is in use by another process: stop that one or change receiver.port (TR_PORT)`,
    });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('that %s ends before it listens exits 0', async (signal) => {
    const hold = new URL('../support/signal-at-load.mjs', import.meta.url).href;
    const environment = { NODE_OPTIONS: `--import=${hold}`, SIGNAL_AT_LOAD: signal };
    await expect(startProcess(settings(0), environment)).rejects.toThrow(/ended with 0:\n$/);
  });
});
