import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RawClient, rawClient } from '../../../support/http/raw-http.js';
import {
  type ReceiverWithBudget,
  startReceiverWithBudget,
} from '../../../support/processes/receiver-with-budget.js';
import { until } from '../../../support/until.js';

const KIB = 1024;
const PART = 256 * KIB;

let receiver: ReceiverWithBudget;
let clients: RawClient[] = [];

/** Room for two deliveries of a part each, and one more in the reserve. */
beforeEach(async () => {
  receiver = await startReceiverWithBudget({ total: 3 * PART, part: PART });
});

afterEach(async () => {
  for (const client of clients) client.close();
  clients = [];
  await receiver.stop();
});

let jobs = 0;

/** Begins a body without an announced length, and sends so much of it. */
async function begin(bytes: number, type = 'audio/wav'): Promise<RawClient> {
  const client = await rawClient(receiver.url);
  clients.push(client);
  jobs += 1;
  const head = [
    `POST /callbacks/default?id=fair${jobs}&status=success HTTP/1.1`,
    'Host: receiver',
    `Content-Type: ${type}`,
    'Transfer-Encoding: chunked',
  ];
  await client.send(`${head.join('\r\n')}\r\n\r\n${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`);
  return client;
}

/** A body that takes a whole part of memory (a raw body for quarantine is let go when others wait), and stalls. */
async function hold(used: number): Promise<RawClient> {
  const client = await begin(250 * KIB);
  await until(() => receiver.budget.used === used);
  return client;
}

describe('while memory is short', () => {
  it('releases a raw body copy as soon as a lease waits', async () => {
    await hold(2 * PART);
    await hold(3 * PART);
    const third = await begin(10 * KIB);
    await third.send('0\r\n\r\n');
    expect((await third.answer()).status).toBe(200);
  });

  describe('and all of it is held by senders that stall', () => {
    let holders: RawClient[];

    beforeEach(async () => {
      holders = [await hold(2 * PART), await hold(3 * PART)];
      holders.push(await begin(250 * KIB));
      await until(() => receiver.budget.used === 3 * PART && receiver.budget.waiters === 0);
    });

    it('refuses one of them with 503 and Retry-After, frees its memory, and serves the waiting delivery', async () => {
      receiver.pass(28);
      const waiter = await begin(10 * KIB);
      await until(() => receiver.budget.waiters === 1);
      receiver.pass(3);
      const refused = await Promise.race(holders.map((holder) => holder.answer()));
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
      expect(JSON.parse(refused.body)).toMatchObject({ code: 'overloaded' });
      await until(() => receiver.budget.waiters === 0);
      await waiter.send('0\r\n\r\n');
      expect((await waiter.answer()).status).toBe(200);
    });

    it('forgets a waiter whose sender has hung up, at once', async () => {
      const gone = await begin(10 * KIB);
      await until(() => receiver.budget.waiters === 1);
      gone.close();
      await until(() => receiver.budget.waiters === 0);
      expect(receiver.budget.used).toBe(3 * PART);
    });

    it('answers 503 with Retry-After when no memory became free within ten seconds', async () => {
      for (const holder of holders) {
        await holder.send(`${(5 * KIB).toString(16)}\r\n${'x'.repeat(5 * KIB)}\r\n`);
      }
      const waiter = await begin(10 * KIB);
      await until(() => receiver.budget.waiters === 1);
      receiver.pass(10);
      const answer = await waiter.answer();
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
      expect(receiver.budget.waiters).toBe(0);
    });

    it('frees the memory of a holder whose sender has hung up', async () => {
      const waiter = await begin(10 * KIB);
      await until(() => receiver.budget.waiters === 1);
      holders[0]?.close();
      await until(() => receiver.budget.waiters === 0);
      await waiter.send('0\r\n\r\n');
      expect((await waiter.answer()).status).toBe(200);
    });
  });
});
