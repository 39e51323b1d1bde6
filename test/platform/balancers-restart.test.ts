import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Balancer, startBalancer } from '../support/http/balancer.js';
import { send } from '../support/http/send.js';
import { CREDENTIAL, type Replicas, startReplicas } from '../support/processes/replicas.js';
import { until } from '../support/until.js';

/* Replicas go and come while callbacks arrive, and connections fall idle at the worst moments: no sender may notice. */

const JSON_TYPE = { ...CREDENTIAL, 'Content-Type': 'application/json' };

let replicas: Replicas | undefined;
let balancer: Balancer | undefined;

afterEach(async () => {
  await balancer?.stop();
  await replicas?.stop();
});

/** Senders that run until `stop`; collects every response other than 200. */
function startLoad(base: string, senders: number, { keepAlive = true } = {}) {
  const agent = new Agent({ keepAlive, maxSockets: senders });
  const sent: string[] = [];
  const failures: string[] = [];
  let stopping = false;
  const one = async (sender: number): Promise<void> => {
    for (let n = 0; !stopping; n += 1) {
      const jobId = `load-${sender}-${n}`;
      const options = { path: `/callbacks/default?id=${jobId}&status=success`, headers: JSON_TYPE, agent };
      const outcome = await send(base, { ...options, body: bodyOf(jobId) }).answer.then(
        ({ status }) => `${status}`,
        (error: Error) => error.message,
      );
      sent.push(jobId);
      if (outcome !== '200') failures.push(`${jobId}: ${outcome}`);
      await sleep(5);
    }
  };
  const running = Promise.all(Array.from({ length: senders }, (_, sender) => one(sender)));
  return {
    sent,
    failures,
    async stop() {
      stopping = true;
      await running;
      agent.destroy();
    },
  };
}

const bodyOf = (jobId: string) => JSON.stringify({ format: '2.9', job: { id: jobId }, results: [] });

async function expectAllStored(jobIds: readonly string[]): Promise<void> {
  for (const jobId of jobIds) {
    const file = path.join(replicas?.folder ?? '', `jobs/${jobId}/transcript.json`);
    expect(await readFile(file, 'utf8')).toBe(bodyOf(jobId));
  }
}

async function more(sent: readonly string[], count: number): Promise<void> {
  const enough = sent.length + count;
  await until(() => sent.length >= enough);
}

async function restart(index: number, settle: () => Promise<void>): Promise<void> {
  const old = replicas?.at(index);
  old?.signal('SIGTERM');
  expect(await old?.ended).toBe(0);
  await replicas?.start(index);
  await settle();
}

describe('a rolling restart under load', () => {
  it('loses and fails no callback behind haproxy, which sees /readyz', async () => {
    replicas = await startReplicas({ receiver: { drainDelay: '8s', drainDeadline: '60s' } });
    balancer = await startBalancer('haproxy', { replicas: replicas.addresses });
    const load = startLoad(balancer.url, 8);
    await more(load.sent, 100);
    for (const index of [0, 1]) {
      // The replica takes part again before the other one leaves.
      await restart(index, async () => {
        const name = index === 0 ? 'a' : 'b';
        await until(() => balancer?.output().includes(`receivers/${name} is UP`) ?? false);
      });
      await more(load.sent, 50);
    }
    await load.stop();
    expect(load.failures).toEqual([]);
    await expectAllStored(load.sent);
  }, 180_000);

  it('loses and fails no callback behind nginx whose upstreams follow each replica', async () => {
    replicas = await startReplicas({ receiver: { drainDelay: '1s', drainDeadline: '20s' } });
    balancer = await startBalancer('nginx', { replicas: replicas.addresses });
    // A reload ends nginx's idle connections, and a sender that is just using one notices: nothing a replica can help.
    const load = startLoad(balancer.url, 8, { keepAlive: false });
    await more(load.sent, 100);
    for (const [index, line] of ['server 10.0.0.11:8080', 'server 10.0.0.12:8080'].entries()) {
      const rest = 'max_fails=2 fail_timeout=5s;';
      await balancer.reload({ [`${line} ${rest}`]: `${line} ${rest.replace(';', ' down;')}` });
      await restart(index, async () => balancer?.reload({}));
      await more(load.sent, 50);
    }
    await load.stop();
    expect(load.failures).toEqual([]);
    await expectAllStored(load.sent);
  }, 180_000);

  it('loses no callback behind haproxy when a replica dies without a word', async () => {
    replicas = await startReplicas();
    balancer = await startBalancer('haproxy', { replicas: replicas.addresses });
    const load = startLoad(balancer.url, 8);
    await more(load.sent, 100);
    await replicas.at(0).destroy();
    await more(load.sent, 200);
    await load.stop();
    // Small callbacks lie whole in the balancer's buffer, so that it can give them to the other replica.
    expect(load.failures).toEqual([]);
    await expectAllStored(load.sent);
  });
});

describe('connections kept alive', () => {
  it.each([
    ['haproxy', { 'timeout http-keep-alive 60s': 'timeout http-keep-alive 2s' }],
    ['nginx', { 'keepalive_timeout 60s': 'keepalive_timeout 1s' }],
  ] as const)(
    'do not break around the idle time-outs of %s',
    async (kind, replace) => {
      // The order that is recommended, only shorter: the receiver's time-out is the longest.
      replicas = await startReplicas({ receiver: { keepAliveTimeout: '4s' } });
      balancer = await startBalancer(kind, { replicas: replicas.addresses, replace });
      const { url } = balancer;
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, async (_, client) => {
          // Pauses around one second, where the balancer's idle connections end.
          const statuses: number[] = [];
          for (let turn = 0; turn < 8; turn += 1) {
            const target = `/callbacks/default?id=idle-${client}-${turn}&status=success`;
            statuses.push((await send(url, { path: target, headers: JSON_TYPE, body: '{}' }).answer).status);
            await sleep(950 + client * 3);
          }
          return statuses;
        }),
      );
      expect(new Set(outcomes.flat())).toEqual(new Set([200]));
    },
    120_000,
  );
});
