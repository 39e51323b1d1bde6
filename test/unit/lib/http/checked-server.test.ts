import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import express from 'express';
import { createCheckedServer } from '../../../../src/lib/http/checked-server.js';
import { ConnectionRequests } from '../../../../src/lib/http/connections/connection-requests.js';
import { rawClient } from '../../../support/http/raw-http.js';

const OPTIONS = { keepAliveTimeout: 5000, headersTimeout: 5000, maxHeaderBytes: 4096 };

it('gives what is no HTTP the headers of every other answer', async () => {
  const server = createCheckedServer(express(), new ConnectionRequests(), OPTIONS, () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const headersOf = async (request: string) => {
    const client = await rawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await client.send(request);
    const { headers } = await client.answer().finally(client.close);
    return Object.keys(headers)
      .filter((name) => name !== 'date')
      .sort();
  };
  // The server itself rejects the first, and Node's parser the second.
  expect(await headersOf('GARBAGE\r\n\r\n')).toEqual(await headersOf('GET / HTTP/1.1\r\n\r\n'));
  await new Promise((resolve) => server.close(resolve));
});
