import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BALANCERS, type Balancer, startBalancer } from '../support/http/balancer.js';
import { type RawClient, rawClient } from '../support/http/raw-http.js';
import { type Answer, send } from '../support/http/send.js';
import { CREDENTIAL, GUARDED, type Replicas, startReplicas } from '../support/processes/replicas.js';

/* A refusal reaches the sender as what it is, never as the balancer's 502, whatever the sender is doing meanwhile. */

const TOKEN = 'correct-horse-battery-staple';
const CHUNK = Buffer.alloc(64 * 1024, 'x');

let replicas: Replicas;
const held: RawClient[] = [];

beforeAll(async () => {
  replicas = await startReplicas({
    sources: {
      default: { ...GUARDED, maxBytes: '1MiB' },
      guarded: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } },
      elsewhere: { allowUnauthenticated: true, allow: ['eu1'] },
      large: GUARDED,
    },
    limits: { maxConcurrentDeliveries: 1 },
  });
});

afterAll(async () => {
  for (const client of held) client.close();
  await replicas.stop();
});

/** Occupies the one slot of each replica, past the balancer, with an upload that is fast enough to keep it. */
async function holdBoth(): Promise<void> {
  for (const index of [0, 1]) {
    const client = await rawClient(replicas.at(index).publicUrl);
    held.push(client);
    await client.send(
      `POST /callbacks/large?id=held${index}&status=success HTTP/1.1\r\nHost: r\r\nContent-Length: ${2 ** 30}\r\n` +
        `Expect: 100-continue\r\nX-Callback-Token: ${CREDENTIAL['X-Callback-Token']}\r\n\r\n`,
    );
    expect((await client.answer()).status).toBe(100);
    void (async () => {
      for (; !client.socket.destroyed; await sleep(50)) await client.send(CHUNK);
    })();
  }
}

const QUERY = '?id=refused&status=success';
const REFUSALS: [situation: string, path: string, status: number][] = [
  ['an unknown source', `/callbacks/nobody${QUERY}`, 404],
  ['an address that is not allowed', `/callbacks/elsewhere${QUERY}`, 403],
  ['a missing credential', `/callbacks/guarded${QUERY}`, 401],
  ['a bad query', '/callbacks/default?status=success', 400],
  ['a body over the limit', `/callbacks/default${QUERY}&n=large`, 413],
];

/** Sends without end and without a declared length until it is answered; what a sender with a large file looks like. */
async function whileWriting(base: string, path: string): Promise<{ answer: Answer; sent: number }> {
  const { outgoing, answer } = send(base, {
    path,
    headers: { ...CREDENTIAL, 'Transfer-Encoding': 'chunked' },
  });
  const done = answer.finally(() => outgoing.destroy());
  let sent = 0;
  let answered = false;
  done.then(
    () => {
      answered = true;
    },
    () => {
      answered = true;
    },
  );
  while (!answered) {
    sent += CHUNK.length;
    await new Promise((resolve) => outgoing.write(CHUNK, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { answer: await done, sent };
}

describe.each(BALANCERS)('through %s', (kind) => {
  let balancer: Balancer;

  beforeAll(async () => {
    balancer = await startBalancer(kind, { replicas: replicas.addresses });
  });

  afterAll(() => balancer?.stop());

  describe.each(REFUSALS)('%s', (_, path, status) => {
    it(`is ${status} to a sender that still writes, every time`, async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        const { answer } = await whileWriting(balancer.url, path);
        expect(answer.status).toBe(status);
      }
    });

    it(`is ${status} to a sender that announced a gigabyte and keeps sending`, async () => {
      const headers = { ...CREDENTIAL, 'Content-Length': 2 ** 30 };
      const { outgoing, answer } = send(balancer.url, { path, headers });
      for (let sent = 0; sent < 32; sent += 1) outgoing.write(CHUNK);
      expect((await answer).status).toBe(status);
      outgoing.destroy();
    });

    it(`is ${status} to a sender that asks before it sends`, async () => {
      const client = await rawClient(balancer.url);
      const length = status === 413 ? 2 ** 30 : 1000;
      await client.send(
        `POST ${path} HTTP/1.1\r\nHost: r\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n` +
          `X-Callback-Token: ${CREDENTIAL['X-Callback-Token']}\r\n\r\n`,
      );
      let answer = await client.answer();
      // nginx says 100 on its own account; what counts is the status at the end.
      if (kind === 'nginx' && answer.status === 100) answer = await client.answer();
      expect(answer.status).toBe(status);
      client.close();
    });
  });

  it('a sender whose refused body was short keeps its connection', async () => {
    const client = await rawClient(balancer.url);
    for (let turn = 0; turn < 3; turn += 1) {
      await client.send(
        `POST /callbacks/guarded${QUERY} HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\n\r\nhello`,
      );
      expect((await client.answer()).status).toBe(401);
    }
    client.close();
  });
});

describe('when every replica is full', () => {
  beforeAll(holdBoth);

  describe.each(BALANCERS)('%s', (kind) => {
    it('hands on the 503 with its Retry-After, also to a sender that still writes', async () => {
      const balancer = await startBalancer(kind, { replicas: replicas.addresses });
      // Six wait for a slot and are refused after ten seconds, the others at once.
      const sending = Array.from({ length: 10 }, () =>
        whileWriting(balancer.url, `/callbacks/default${QUERY}`),
      );
      for (const { answer } of await Promise.all(sending)) {
        expect(answer.status).toBe(503);
        expect(answer.json.code).toBe('overloaded');
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      }
      await balancer.stop();
    });
  });
});
