import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createSpeechClients } from '../../../src/speech/speech.js';

/** A jobs API that knows its list under one spelling of the path only. */
async function servingOnly(path: string, unknown = '{"code":404,"error":"path not found"}') {
  const server = createServer((request, response) => {
    const known = new URL(request.url ?? '', 'http://here').pathname === path;
    const type = known || unknown.startsWith('{') ? 'application/json' : 'text/html';
    response.writeHead(known ? 200 : 404, { 'content-type': type });
    response.end(known ? '{"jobs":[]}' : unknown);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

async function pagesOf(batchUrl: string): Promise<number> {
  const clients = createSpeechClients({
    apiKey: 'a-long-api-key',
    regions: { eu1: { batchUrl } },
    retries: 0,
  });
  try {
    let pages = 0;
    for await (const page of clients.jobs('eu1').list()) pages += 1 + page.jobs.length;
    return pages;
  } finally {
    await clients.close();
  }
}

describe('the job list', () => {
  // Rule: Jobs API: `/v2/jobs/` lists the key's jobs
  // Rule: Contradictions: the list: `/v2/jobs/`, or `/v2/jobs`
  it.each(['/v2/jobs', '/v2/jobs/'])('is found by a server that knows it as %s only', async (path) => {
    const server = await servingOnly(path);
    expect(await pagesOf(server.url)).toBeLessThanOrEqual(1);
    server.close();
  });

  it('is found by a server that answers other paths with a web page', async () => {
    const server = await servingOnly('/v2/jobs', '<html>404 page not found</html>');
    expect(await pagesOf(server.url)).toBeLessThanOrEqual(1);
    server.close();
  });

  it('is missed in the words of the first answer when neither spelling is known', async () => {
    const server = await servingOnly('/elsewhere');
    await expect(pagesOf(server.url)).rejects.toMatchObject({ kind: 'not-found', status: 404 });
    server.close();
  });
});
