import { expect, it } from '@jest/globals';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const credentials = { main: { headers: ['X-Callback-Token: correct-horse-battery-staple'] } };
const token = 'token-of-the-clinic-0123456789';

it('a wrong credential is counted for other replicas and after a restart, each source for those who may see it', async () => {
  const folder = await temporaryFolder();
  const settings = {
    store: { url: `file:${folder.path}` },
    sources: { clinic: { keyPrefix: 'clinic/', credentials }, court: { keyPrefix: 'court/', credentials } },
    admin: { tokens: { clinic: { token, may: ['view'], sources: ['clinic'] } } },
  };
  const first = await startService(settings);
  for (const source of ['clinic', 'court', 'court', 'unknown']) {
    await sendCallback(first, 'id=j1&status=success', undefined, { 'x-callback-token': 'wrong' }, source);
  }
  await first.stop();

  const second = await startService(settings);
  try {
    const { body } = await adminApi(second).get('/refusals/counts');
    expect(body).toMatchObject({
      complete: true,
      counts: [
        { source: 'court', reason: 'credential-wrong', count: 2 },
        { source: 'clinic', reason: 'credential-wrong', count: 1 },
        { source: null, reason: 'source-unknown', count: 1 },
      ],
    });
    const own = await adminApi(second, token).get('/refusals/counts');
    expect(own.body.counts).toEqual([expect.objectContaining({ source: 'clinic', count: 1 })]);
  } finally {
    await second.stop();
    await folder.remove();
  }
});
