import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asProblem } from '../../../../src/domain/problem.js';
import { readJson } from '../../../../src/operations/admin/admin-router.js';

const MIB = 1024 * 1024;
const limits = { idleTimeout: 60_000, totalTimeout: 60_000, minBytesPerSecond: 0, minRateGrace: 60_000 };
const server = createServer(async (incoming, response) => {
  const idleTimeout = incoming.url === '/impatient' ? 200 : limits.idleTimeout;
  const answer = await readJson(incoming, { ...limits, idleTimeout }).then(
    (value) => ({ value }),
    (error: unknown) => {
      const { code, message: detail } = asProblem(error);
      return { code, detail };
    },
  );
  response.end(JSON.stringify(answer));
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends a body with its length, or chunked; resolves to what `readJson` made of it. */
function send(
  body: string | Buffer,
  headers: Record<string, string | number> = {},
  path = '/',
): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', path, headers }, (response) => {
      resolve(text(response).then((answer) => JSON.parse(answer)));
    });
    outgoing.on('error', reject);
    if (Number(headers['content-length'] ?? 0) > body.length) outgoing.write(body);
    else outgoing.end(body);
  });
}

const invalid = { code: 'request-invalid', detail: 'The body is not valid JSON in UTF-8.' };

describe('a JSON body', () => {
  it.each([
    ['with its length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
    ['of another type', { 'content-type': 'text/plain' }],
  ])('is read %s', async (_, headers) => {
    expect(await send('{"reason":"für"}', headers)).toEqual({ value: { reason: 'für' } });
  });

  it('may begin with a byte order mark', async () => {
    expect(await send('\ufeff{"reason":"x"}')).toEqual({ value: { reason: 'x' } });
  });

  it('may be missing', async () => {
    expect(await send('')).toEqual({});
  });

  it.each([
    ['truncated', '{"reason"'],
    ['in Latin-1, whose letters would be lost', Buffer.from('{"reason":"für"}', 'latin1')],
    ['in UTF-16', Buffer.from('{"reason":"x"}', 'utf16le')],
    ['compressed', gzipSync('{"reason":"x"}')],
  ])('is invalid when it is %s', async (_, body) => {
    expect(await send(body)).toEqual(invalid);
  });

  it.each([{ 'content-length': MIB + 1 }, { 'transfer-encoding': 'chunked' }])(
    'is too large with more than a MiB, sent with %j',
    async (headers) => {
      expect(await send(`"${'x'.repeat(MIB - 2)}"`)).toEqual({ value: 'x'.repeat(MIB - 2) });
      expect(await send(`"${'x'.repeat(MIB - 1)}"`, headers)).toMatchObject({ code: 'body-too-large' });
    },
  );

  it('is too slow when it stalls', async () => {
    expect(await send('{', { 'content-length': 20 }, '/impatient')).toMatchObject({ code: 'body-too-slow' });
  });
});
