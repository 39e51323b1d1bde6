import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type RawClient, rawClient } from '../support/raw-http.js';
import { type RunningService, startService } from '../support/running-service.js';

/* What strangers can put into the head of a request, on both ports. */

let service: RunningService;
const clients: RawClient[] = [];

beforeAll(async () => {
  service = await startService();
});

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

afterAll(() => service.stop());

async function open(url: string): Promise<RawClient> {
  const client = await rawClient(url);
  clients.push(client);
  return client;
}

describe('a header called __proto__', () => {
  it.each([
    ['a callback', () => service.publicUrl, 'POST /callbacks/default?id=proto&status=success', 200],
    ['an unknown path', () => service.publicUrl, 'GET /nowhere', 404],
    ['the admin API', () => service.adminUrl, 'GET /admin/api/health', 401],
  ])('is a header like any other: %s', async (_, url, line, status) => {
    const client = await open(url());
    const head = `${line} HTTP/1.1\r\nHost: receiver\r\n__proto__: x\r\n__proto__: y\r\n`;
    await client.send(`${head}Content-Length: 0\r\n\r\n`);
    expect((await client.answer()).status).toBe(status);
  });
});
