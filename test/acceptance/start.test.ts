import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ReceiverProcess, startProcess } from '../support/receiver-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: ReceiverProcess;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  await receiver.destroy();
  await folder.remove();
});

describe('a start without an admin token', () => {
  it.each(['production', 'development'])('prints a link that signs in, in %s', async (NODE_ENV) => {
    receiver = await startProcess(
      { receiver: { host: '127.0.0.1', port: 0 }, admin: { port: 0 }, store: { url: `file:${folder.path}` } },
      { NODE_ENV, TR_LOG_PRETTY: 'false' },
    );
    const health = await fetch(`${receiver.adminUrl}/admin/api/health`);
    expect(health.status).toBe(401);
    const printed = () => /#token=(\S+)/.exec(receiver.output.join('\n'))?.[1] ?? '';
    await until(() => printed() !== '');
    const token = printed();
    const signedIn = await fetch(`${receiver.adminUrl}/admin/api/health`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(signedIn.status).toBe(200);
    expect(JSON.stringify(receiver.log)).not.toContain(token);
  });
});
