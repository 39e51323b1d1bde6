import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BALANCERS, type Balancer, startBalancer } from '../support/http/balancer.js';
import { rawClient } from '../support/http/raw-http.js';
import { type Answer, send } from '../support/http/send.js';
import { CREDENTIAL, GUARDED, type Replicas, startReplicas } from '../support/processes/replicas.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { standInS3 } from '../support/store/stand-in-store.js';
import { until } from '../support/until.js';

/* A refusal reaches the sender as what it is, never as the balancer's 502, whatever the sender is doing meanwhile. */

const TOKEN = 'correct-horse-battery-staple';
const CHUNK = Buffer.alloc(64 * 1024, 'x');

let replicas: Replicas;

beforeAll(async () => {
  replicas = await startReplicas({
    sources: {
      default: { ...GUARDED, maxBytes: '1MiB' },
      guarded: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } },
      elsewhere: { allowUnauthenticated: true, allow: ['eu1'] },
    },
  });
});

afterAll(() => replicas?.stop());

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
  let store: S3StandIn;
  let full: Replicas;

  /** Each has one slot, which a delivery holds that has arrived and waits for the store: no sender is too slow for that. */
  beforeAll(async () => {
    store = await startS3StandIn();
    store.misbehave = ({ key }) => (key.includes('jobs/held') ? { kind: 'hang' } : null);
    full = await startReplicas({
      sources: { default: GUARDED },
      store: { url: 's3://bucket', s3: { ...standInS3(store), requestTimeout: '10m' } },
      limits: { maxConcurrentDeliveries: 1 },
    });
    for (const index of [0, 1])
      send(full.at(index).publicUrl, {
        path: `/callbacks/default?id=held${index}&status=success`,
        headers: { ...CREDENTIAL, 'Content-Type': 'application/json' },
        body: '{}',
      });
    await until(() => store.hanging === 2);
  });

  afterAll(async () => {
    await full?.stop();
    await store.close();
  });

  describe.each(BALANCERS)('%s', (kind) => {
    let balancer: Balancer;

    beforeAll(async () => {
      balancer = await startBalancer(kind, { replicas: full.addresses });
    });

    afterAll(() => balancer?.stop());

    it('hands on the 503 with its Retry-After, also to a sender that still writes', async () => {
      // Six wait for a slot and are refused after ten seconds, the others at once.
      const sending = Array.from({ length: 10 }, () =>
        whileWriting(balancer.url, `/callbacks/default${QUERY}`),
      );
      for (const { answer } of await Promise.all(sending)) {
        expect(answer.status).toBe(503);
        expect(answer.json.code).toBe('overloaded');
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      }
    });
  });
});
