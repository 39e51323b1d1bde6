import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { SentAttempt } from '../../src/domain/sent-attempt.js';
import { createLedger } from '../../src/ledger/write/ledger.js';
import { openStore } from '../../src/store/open-store.js';
import { readToEnd } from '../../src/store/read-to-end.js';
import { createOutboxStore } from '../../src/subscribers/outbox-store.js';
import { recordingServer } from '../support/http/recording-server.js';
import { eventOf, storedLine } from '../support/outbox/subscribed.js';
import type { SenderProcessOptions } from '../support/processes/sender.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const SENDER = fileURLToPath(new URL('../support/processes/sender.ts', import.meta.url));
const TYPESCRIPT = new URL('../../scripts/run-typescript.mjs', import.meta.url).href;
const ROUNDS = 2;

const stopping: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const stop of stopping.reverse()) await stop();
});

async function startSender(options: SenderProcessOptions): Promise<ChildProcess> {
  const child = fork(SENDER, { execArgv: ['--import', TYPESCRIPT] });
  stopping.push(async () => child.kill('SIGKILL'));
  await once(child, 'message');
  child.send(options);
  await once(child, 'message');
  return child;
}

async function deliveredOnRecord(store: Awaited<ReturnType<typeof openStore>>): Promise<Set<string>> {
  const events = new Set<string>();
  for await (const { key } of store.list('outbox/crm/sent/')) {
    const reading = await store.read(key);
    const text = reading === null ? '' : (await readToEnd(key, reading.body)).toString();
    for (const line of text.trim().split('\n')) {
      const { event, ended } = JSON.parse(line) as SentAttempt;
      if (ended === 'delivered') events.add(event);
    }
  }
  return events;
}

describe('processes that are killed while they send', () => {
  it('leave no event out, and never send one with another id', async () => {
    const folder = await temporaryFolder();
    stopping.push(folder.remove);
    const storeUrl = `file:${folder.path}`;
    const store = await openStore({ url: storeUrl, fsync: false });
    const ledger = createLedger({ store, replica: 'writer' });
    const accepted = new Set<string>();
    const server = await recordingServer((index, request) => {
      if (index % 3 === 0) return 503;
      accepted.add(eventOf(request).id);
      return 200;
    });
    stopping.push(() => server.close());
    const start = (round: number) =>
      startSender({ storeUrl, subscriberUrl: server.url, owner: `process-${round}`, lease: 200 });
    const { read } = createOutboxStore(store, 'crm');
    let sender = await start(0);
    await until(async () => (await read()) !== null);
    const expected: string[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const lines = Array.from({ length: 60 }, () => storedLine());
      expected.push(...lines.map(({ deliveryId }) => deliveryId));
      const writing = lines.map((line, index) =>
        new Promise((resolve) => setTimeout(resolve, index * 3)).then(() => ledger.append(line)),
      );
      const before = accepted.size;
      await until(() => accepted.size > before + 5);
      sender.kill('SIGKILL');
      await Promise.all([once(sender, 'exit'), ...writing]);
      sender = await start(round);
    }
    await until(() => accepted.size >= expected.length);
    expect([...accepted].toSorted()).toEqual(expected.toSorted());
    expect((await read())?.owner).toBe(`process-${ROUNDS}`);
    // Whoever was killed, each event has the attempt that delivered it on record.
    await until(async () => (await deliveredOnRecord(store)).size >= expected.length);
    expect([...(await deliveredOnRecord(store))].toSorted()).toEqual(expected.toSorted());
  });
});
