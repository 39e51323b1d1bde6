import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { checkService } from '../../../../src/cli/doctor/check-service.js';
import { createSpeechClients } from '../../../../src/speech/speech.js';

it('waits only so long for a key service that takes the request and never answers', async () => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const regions = { eu1: { batchUrl: url } };
  const speech = createSpeechClients({
    apiKey: 'k',
    auth: 'temporaryKey',
    keysUrl: url,
    regions,
    retries: 0,
  });
  try {
    expect(await checkService(speech, true, 200)).toEqual([
      expect.objectContaining({
        check: 'service eu1',
        verdict: 'failed',
        message: 'No answer within 0.2 s.',
        advice: expect.stringContaining('firewall'),
      }),
    ]);
  } finally {
    await speech.close();
    silent.closeAllConnections();
    silent.close();
  }
});
