import { expect, it } from '@jest/globals';
import { recordingServer } from '../../support/http/recording-server.js';
import { eventOf, FAST, SECRET } from '../../support/outbox/subscribed.js';
import { sendCallback } from '../../support/processes/admin-api.js';
import { startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const TRANSCRIPT = '{"format":"2.9","results":[]}';
const FORM = ['transcript', 'jobinfo'].map(
  (name) => `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n\r\n${TRANSCRIPT}\r\n`,
);

it('a sender that begins again does not announce a delivery a second time for a callback of the same job with fewer contents', async () => {
  const server = await recordingServer();
  const folder = await temporaryFolder();
  const settings = {
    store: { url: `file:${folder.path}` },
    subscribers: { crm: { url: server.url, secrets: [SECRET], events: ['job.stored'] } },
  };
  const ids = () => server.requests.map((request) => eventOf(request).id);
  const first = await startService(settings, {}, FAST);
  await until(() => first.log.some(({ event }) => event === 'events-sender'));
  const form = { 'content-type': 'multipart/form-data; boundary=b' };
  const { json: whole } = await sendCallback(
    first,
    'id=j1&status=success',
    `${FORM.join('')}--b--\r\n`,
    form,
  );
  await until(() => ids().length > 0);
  await first.stop();

  const second = await startService(settings, {}, FAST);
  const type = { 'content-type': 'application/json' };
  const { json: part } = await sendCallback(second, 'id=j1&status=success', TRANSCRIPT, type);
  expect(part.outcome).toBe('duplicate');
  const { json: other } = await sendCallback(second, 'id=j2&status=success', TRANSCRIPT, type);
  await until(() => ids().includes(other.deliveryId ?? ''));
  await second.stop();
  expect(ids()).toEqual([whole.deliveryId, other.deliveryId]);
  await server.close();
  await folder.remove();
});
