import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pLimit from 'p-limit';
import { readBack } from '../../../src/archive/read-back.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import type { StoreUnderTest } from '../../contract/object-store.js';
import {
  type Acknowledged,
  type LoadPlan,
  mediaOf,
  sendLoad,
  sha256,
  transcriptOf,
} from '../http/callback-load.js';
import { readLines } from '../ledger/read-lines.js';
import { type ReceiverProcess, startReady } from '../processes/receiver-process.js';
import { storeSettings } from './store-settings.js';

/*
 * "2xx <=> durable and byte-exact", with the real binary over a real store: killed under load, and raced by a
 * second replica. Everything is read back through a store of the test's own.
 */

/** Milliseconds a test may take on a busy machine with a slow store. */
const PATIENCE = 180_000;

export function describeDurability(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`durability on ${name}`, () => {
    let underTest: StoreUnderTest;
    let store: ObjectStore;
    /** Larger than a part, so that it streams. */
    let media: NonNullable<LoadPlan['media']>;
    const replicas = new Map<string, ReceiverProcess>();

    beforeAll(async () => {
      underTest = await open();
      store = await openStore(underTest.options);
      media = { every: 20, bytes: store.partSize + 100_000 };
    });

    afterAll(async () => {
      for (const replica of replicas.values()) await replica.destroy();
      await store.close();
      await underTest.dispose();
    });

    /** The tests share replicas of the same name: each start costs a second of CPU. */
    async function replicaNamed(replicaName: string): Promise<ReceiverProcess> {
      const running = replicas.get(replicaName);
      if (running !== undefined) return running;
      const replica = await startReady({
        replicaName,
        receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '20s' },
        admin: { port: 0 },
        store: storeSettings(underTest.options),
      });
      replicas.set(replicaName, replica);
      return replica;
    }

    it(
      'keeps every acknowledged delivery through kill -9 under load, with its ledger line',
      async () => {
        const replica = await replicaNamed('killed');
        const jobs = Array.from({ length: 100 }, (_, n) => `kill${n}`);
        const { acknowledged, refused } = await sendLoad(replica.publicUrl, {
          jobs,
          concurrency: 24,
          media,
          onAcknowledged: (count) => {
            if (count === 40) replica.signal('SIGKILL');
          },
        });
        expect(await replica.ended).toBe('SIGKILL');
        expect(acknowledged.length).toBeGreaterThanOrEqual(40);
        expect(refused[0]).toBeGreaterThan(0);
        await expectAllThere(store, acknowledged);
        await expectNothingHalfVisible(store, jobs, media);

        // After a restart the sender repeats everything: stored artefacts are identical, the others are stored now.
        const again = await replicaNamed('one');
        const retried = await sendLoad(again.publicUrl, {
          jobs: jobs.slice(0, 60),
          concurrency: 16,
          media,
        });
        expect(retried.refused).toEqual({});
        expect(retried.acknowledged.map(({ answer }) => answer.outcome)).not.toContain('conflict');
        await expectAllThere(store, [...acknowledged, ...retried.acknowledged]);
      },
      PATIENCE,
    );

    it(
      'stores each artefact once when two replicas receive the same deliveries at the same moment',
      async () => {
        const one = await replicaNamed('one');
        const two = await replicaNamed('two');
        const jobs = Array.from({ length: 30 }, (_, n) => `race${n}`);
        const plan = { jobs, concurrency: 16, media: { ...media, every: 15 } };
        const results = await Promise.all([sendLoad(one.publicUrl, plan), sendLoad(two.publicUrl, plan)]);
        const acknowledged = results.flatMap((result) => result.acknowledged);
        expect(results.map(({ refused }) => refused)).toEqual([{}, {}]);
        const created = acknowledged.flatMap(({ answer }) =>
          answer.items.filter(({ outcome }) => outcome === 'created'),
        );
        expect(created).toHaveLength(new Set(created.map(({ key }) => key)).size);
        expect(created).toHaveLength(jobs.length + jobs.length / 15);
        expect(
          acknowledged.flatMap(({ answer }) => answer.items).filter(({ outcome }) => outcome === 'conflict'),
        ).toEqual([]);
        await expectAllThere(store, acknowledged);
      },
      PATIENCE,
    );

    it(
      'lets one win and keeps the other beside it when two replicas receive different bytes for one job',
      async () => {
        const one = await replicaNamed('one');
        const two = await replicaNamed('two');
        const jobs = Array.from({ length: 20 }, (_, n) => `differ${n}`);
        const send = async (replica: ReceiverProcess, job: string, word: string) => {
          const body = transcriptOf(job).replace('word of', word);
          const response = await fetch(`${replica.publicUrl}/callbacks/default?id=${job}&status=success`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          });
          expect(response.status).toBe(200);
          return { answer: await response.json(), sent: [sha256(body)] } as Acknowledged;
        };
        const answers = await Promise.all(
          jobs.flatMap((job) => [send(one, job, 'one of'), send(two, job, 'two of')]),
        );
        const outcomes = answers.map(({ answer }) => answer.outcome);
        expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(jobs.length);
        expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(jobs.length);
        await expectAllThere(store, answers);
      },
      PATIENCE,
    );
  });
}

/** Every acknowledged item is in the store with the hash of the sent bytes, and the ledger has its line. */
async function expectAllThere(store: ObjectStore, acknowledged: readonly Acknowledged[]): Promise<void> {
  const lines = new Map<string, LedgerLine>();
  for await (const line of readLines(store)) lines.set(line.deliveryId, line);
  const missing: string[] = [];
  const check = async ({ answer, sent }: Acknowledged): Promise<void> => {
    if (lines.get(answer.deliveryId)?.outcome !== answer.outcome)
      missing.push(`ledger line of ${answer.jobId}`);
    if (answer.items.length !== sent.length) missing.push(`item of ${answer.jobId}`);
    const found = await Promise.all(answer.items.map((item) => readBack(store, item.key)));
    for (const [n, object] of found.entries()) {
      if (object?.sha256 !== sent[n]) missing.push(answer.items[n]?.key ?? '');
    }
  };
  await allOf(acknowledged, check);
  expect(missing).toEqual([]);
}

/** An unacknowledged artefact is either absent or complete. */
async function expectNothingHalfVisible(
  store: ObjectStore,
  jobs: readonly string[],
  { every, bytes }: NonNullable<LoadPlan['media']>,
): Promise<void> {
  const media = jobs.filter((_, n) => n % every === 0).map((job) => sha256(mediaOf(job, bytes)));
  const whole = new Set([...jobs.map((job) => sha256(transcriptOf(job))), ...media]);
  const keys = await Array.fromAsync(store.list('jobs/kill'), ({ key }) => key);
  const damaged: string[] = [];
  await allOf(keys, async (key) => {
    const found = await readBack(store, key);
    if (found !== null && !whole.has(found.sha256)) damaged.push(key);
  });
  expect(damaged).toEqual([]);
}

/** Reads in parallel, because a real store is slow. */
async function allOf<T>(items: readonly T[], check: (item: T) => Promise<void>): Promise<void> {
  const limit = pLimit(32);
  await Promise.all(items.map((item) => limit(check, item)));
}
