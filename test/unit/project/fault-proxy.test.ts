import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type FaultProxy,
  type ProxyFault,
  startFaultProxy,
  throttle,
} from '../../support/store/fault-proxy.js';

let server: Server;
let proxy: FaultProxy;

beforeEach(async () => {
  server = createServer(async (incoming, outgoing) => outgoing.end(`${(await text(incoming)).length}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startFaultProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  await proxy.close();
  server.close();
});

/** Resolves with the number of bytes that the server received. */
async function received(chunks: readonly string[]): Promise<string> {
  const outgoing = request(proxy.url, { method: 'POST', agent: false });
  const answered = once(outgoing, 'response');
  for (const chunk of chunks) outgoing.write(chunk);
  outgoing.end();
  const [response] = await answered;
  return text(response);
}

describe('a slow connection', () => {
  it('passes tiny chunks without a timer for each, which would make them slower than the rate', () => {
    const body = throttle(1_000_000, new AbortController().signal);
    for (let n = 0; n < 500; n += 1) body.write('x');
    expect(body.readableLength).toBe(500);
  });
});

describe('the end of all faults', () => {
  it.each<ProxyFault>([
    { kind: 'slow', bytesPerSecond: 1_000 },
    { kind: 'delay', ms: 200_000 },
  ])('forwards what a fault still holds back: $kind', async (fault) => {
    const selected = new Promise<void>((resolve) => {
      proxy.fault = () => {
        resolve();
        return fault;
      };
    });
    const answer = received(['x'.repeat(200_000)]);
    await selected;
    proxy.endFaults();
    expect(await answer).toBe('200000');
  });

  it('leaves later requests without faults', async () => {
    proxy.endFaults();
    proxy.fault = () => ({ kind: 'reset' });
    expect(await received(['x'])).toBe('1');
  });
});
