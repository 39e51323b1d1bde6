import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const NO_BUCKET = '<?xml version="1.0"?><Error><Code>NoSuchBucket</Code><Message>none</Message></Error>';
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(404, { 'content-type': 'application/xml' }).end(NO_BUCKET);
});
let service: RunningService;
let endpoint: string;
beforeAll(async () => {
  service = await startService();
  await sendCallback(service, 'id=j1&status=success', 'Hello', { 'content-type': 'text/plain' });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(async () => {
  await service.stop();
  server.close();
});

it('copy-store into a bucket that does not exist says that it has to be made', async () => {
  const s3 = {
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  };
  const { code, stderr } = await runCommand(['copy-store', `file:${service.folder}`, 's3://none/here'], {
    NODE_CONFIG: JSON.stringify({ store: { s3 } }),
  });
  expect(code).toBe(4);
  expect(stderr).toContain('the bucket does not exist (404 NoSuchBucket');
  expect(stderr).toMatch(
    /^A bucket to copy into has to be made before\. Correct this, then run the same command again: it continues\.$/m,
  );
});
