import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pLimit from 'p-limit';
import { readBack } from '../../../src/archive/read-back.js';
import { KINDS, type RetrievableKind } from '../../../src/domain/kinds.js';
import type { RecoveryReport } from '../../../src/recovery/reconcile/report/recovery-report.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import type { StoreUnderTest } from '../../contract/object-store.js';
import { type SwitchableProxy, startSwitchableProxy } from '../http/switchable-proxy.js';
import { readLines } from '../ledger/read-lines.js';
import { type ReceiverProcess, startReady } from '../processes/receiver-process.js';
import { runCommand } from '../processes/run-command.js';
import { storeSettings } from '../store/store-settings.js';

/*
 * Recovery with the real binary: callbacks are dropped, rejected and cut off by a SIGKILL. After one reconcile the store
 * holds every artefact of every finished job, once and byte-exact.
 */

const JOBS = 150;
/** Milliseconds a test may take on a busy machine with a slow store. */
const PATIENCE = 180_000;

/** Taken in turn; undefined leaves `contents` out. Twelve kinds of jobs. */
const MIX: readonly (readonly RetrievableKind[] | undefined)[] = [
  ['transcript.json-v2'],
  undefined,
  ['transcript.txt'],
  ['transcript.json-v2', 'transcript.txt', 'transcript.srt'],
  [],
  ['transcript.json-v2'],
  ['transcript.json-v2', 'data'],
  ['transcript.srt'],
  undefined,
  ['transcript.json-v2', 'transcript.srt'],
  ['data'],
  ['transcript.txt', 'data'],
];

interface Submitted {
  readonly id: string;
  readonly failed: boolean;
  readonly items: readonly RetrievableKind[];
}

export function describeLostCallbacks(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`lost callbacks on ${name}`, () => {
    let underTest: StoreUnderTest;
    let store: ObjectStore;
    let simulator: Simulator;
    let proxy: SwitchableProxy;
    let receivers: ReceiverProcess[];
    let jobs: Submitted[];

    beforeEach(async () => {
      underTest = await open();
      store = await openStore(underTest.options);
      // Three retries within 650 ms instead of 65 s.
      simulator = await createSimulator({ seed: 'lost', regions: { eu1: 0, us1: 0 }, timeScale: 0.01 });
      proxy = await startSwitchableProxy();
      receivers = [];
      jobs = [];
    });

    afterEach(async () => {
      await simulator.close();
      await proxy.close();
      for (const receiver of receivers) await receiver.destroy();
      await store.close();
      await underTest.dispose();
    });

    function settings(replicaName: string): Record<string, unknown> {
      const regions = Object.entries(simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]);
      return {
        replicaName,
        receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '20s' },
        admin: { port: 0 },
        store: storeSettings(underTest.options),
        speech: {
          apiKey: simulator.apiKey,
          regions: Object.fromEntries(regions),
          maxRequestsPerSecond: 500,
        },
        recovery: { grace: '0s', concurrency: 8, interval: 'off' },
      };
    }

    async function startReceiver(replicaName: string): Promise<ReceiverProcess> {
      const receiver = await startReady(settings(replicaName));
      receivers.push(receiver);
      proxy.setTarget(receiver.publicUrl);
      return receiver;
    }

    /** Submits jobs; `onSettled` is called for each job whose notification has ended. */
    function submit(count: number, onSettled: (delivered: boolean) => void = () => {}): void {
      for (let n = 0; n < count; n += 1) {
        const index = jobs.length;
        const contents = MIX[index % MIX.length];
        const failed = index % 25 === 24;
        const { id, notified } = simulator.submit({
          region: index % 3 === 0 ? 'us1' : 'eu1',
          outcome: failed ? 'error' : 'success',
          words: 30 + (index % 200),
          // Some larger than a part, so that they stream.
          mediaBytes: index % 60 === 6 ? store.partSize + 100_000 : 20_000,
          config: {
            type: 'transcription',
            transcription_config: { language: 'en' },
            notification_config: [
              { url: `${proxy.url}/callbacks/default`, ...(contents ? { contents } : {}) },
            ],
          },
        });
        jobs.push({ id, failed, items: contents ?? ['transcript.json-v2'] });
        notified.then(([outcome]) => onSettled(outcome === 'delivered'));
      }
    }

    /** The artefacts that finished jobs require, with their hashes. */
    async function requiredArtefacts(): Promise<Map<string, string>> {
      const artefacts = new Map<string, string>();
      for (const { id, failed, items } of jobs) {
        if (failed) continue;
        const expected = simulator.expected(id);
        for (const item of items)
          artefacts.set(`jobs/${id}/${KINDS[item].file}`, await expected[item].sha256());
      }
      return artefacts;
    }

    /** The artefacts of finished jobs in the store, with their hashes. */
    async function storedArtefacts(): Promise<Map<string, string>> {
      const finished = new Set(jobs.filter(({ failed }) => !failed).map(({ id }) => id));
      const keys: string[] = [];
      for await (const { key } of store.list('jobs/')) {
        if (finished.has(key.split('/')[1] ?? '')) keys.push(key);
      }
      const limit = pLimit(32);
      const found = await Promise.all(keys.map((key) => limit(() => readBack(store, key))));
      return new Map(keys.map((key, n) => [key, found[n]?.sha256 ?? 'unreadable']));
    }

    async function reconcile(): Promise<RecoveryReport> {
      const env = { NODE_CONFIG: JSON.stringify(settings('cron')) };
      const { code, stdout, stderr } = await runCommand(['reconcile', '--json'], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout) as RecoveryReport;
    }

    it(
      'ends after one reconcile with every artefact of every finished job, once and byte-exact',
      async () => {
        let delivered = 0;
        const receiver = await startReceiver('first');

        // Some are never sent at all.
        simulator.faults.add({ kind: 'drop', rate: 0.25 });
        submit(50);
        await simulator.idle();

        // For a while every callback is answered 503.
        proxy.setTarget(null);
        submit(30);
        await simulator.idle();
        proxy.setTarget(receiver.publicUrl);

        // The receiver is killed with callbacks in flight, and is down for longer than they are retried.
        submit(50, (ok) => {
          if (ok) delivered += 1;
          if (delivered === 15) receiver.signal('SIGKILL');
        });
        await simulator.idle();
        expect(await receiver.ended).toBe('SIGKILL');
        await startReceiver('second');
        submit(JOBS - jobs.length);
        await simulator.idle();

        const expected = await requiredArtefacts();
        const before = await storedArtefacts();
        const incomplete = jobs.filter(
          ({ id, failed, items }) =>
            !failed && items.some((item) => !before.has(`jobs/${id}/${KINDS[item].file}`)),
        );
        expect(jobs).toHaveLength(JOBS);
        expect(incomplete.length).toBeGreaterThanOrEqual(0.3 * JOBS);

        const report = await reconcile();
        expect(report.outcomes).toEqual({
          matched: JOBS - incomplete.length,
          recovered: incomplete.length,
          conflict: 0,
          pending: 0,
          unrecoverable: 0,
          failed: 0,
        });
        expect(report.faults).toEqual([]);
        expect(differences(await storedArtefacts(), expected)).toEqual([]);
        expect(await createdTwice(store)).toEqual([]);

        expect((await reconcile()).outcomes).toMatchObject({ matched: JOBS, recovered: 0 });
        expect(differences(await storedArtefacts(), expected)).toEqual([]);
      },
      PATIENCE,
    );
  });
}

function differences(actual: Map<string, string>, expected: Map<string, string>): string[] {
  const keys = new Set([...actual.keys(), ...expected.keys()]);
  return [...keys].filter((key) => actual.get(key) !== expected.get(key)).sort();
}

/** Keys that more than one delivery claims to have created. */
async function createdTwice(store: ObjectStore): Promise<string[]> {
  const seen = new Set<string>();
  const twice: string[] = [];
  for await (const line of readLines(store)) {
    for (const { key, outcome } of line.items) {
      if (outcome === 'created' && seen.has(key)) twice.push(key);
      if (outcome === 'created') seen.add(key);
    }
  }
  return twice;
}
