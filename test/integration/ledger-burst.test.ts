import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Failures } from '../../src/operations/answers/deliveries.js';
import type { Health } from '../../src/operations/answers/health.js';
import { writeBurst } from '../support/ledger/write-burst.js';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const TOKEN = 'a-token-of-some-length';
const MINUTE = 60_000;
/** Bytes of heap that the process gets: its base takes half. */
const NODE = { nodeFlags: ['--max-old-space-size=64'] };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: ReceiverProcess | null = null;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(async () => {
  await receiver?.destroy();
  await folder.remove();
});

function settings(): Record<string, unknown> {
  return {
    receiver: { host: '127.0.0.1', port: 0 },
    admin: { port: 0, tokens: { ops: TOKEN } },
    store: { url: `file:${folder.path}` },
    ledger: { merge: false },
  };
}

async function ask<T>(path: string): Promise<T> {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${receiver?.adminUrl}/admin/api/${path}`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}

describe('a replica that starts beside a burst of ledger lines', () => {
  it('takes callbacks and answers pages while it reads them, and says how far it is', async () => {
    const now = Date.now();
    await writeBurst(folder.path, { writer: 'burst', lines: 10_000, withinMs: 20 * MINUTE, now });
    await writeBurst(folder.path, {
      writer: 'segments',
      lines: 1_000,
      linesPerSegment: 1,
      withinMs: 5 * MINUTE,
      now,
    });
    receiver = await startReady(settings(), {}, NODE);
    const { publicUrl } = receiver;
    const since = new Date(now - 30 * MINUTE).toISOString();
    const pages = ['deliveries', `deliveries?since=${since}&job=nobody`, 'failures', 'summary'];
    const answers = Promise.all([...pages, ...pages].map((page) => ask(page)));
    let number = 0;
    const deliver = async () => {
      number += 1;
      const url = `${publicUrl}/callbacks/default?id=during-${number}&status=success`;
      return (await fetch(url, { method: 'POST', body: 'text' })).status;
    };
    await until(async () => {
      expect(await deliver()).toBe(200);
      expect((await fetch(`${publicUrl}/readyz`)).status).toBe(200);
      const { verdict, ledger } = await ask<Health>('health');
      const { index } = verdict;
      if (index.until === null) expect(verdict.unseen).toContain('deliveries');
      return index.since === null && ledger.rows !== null && ledger.rows >= 11_000;
    });
    await answers;
    expect(await ask<Failures>('failures')).toMatchObject({ index: { since: null, missing: [] } });
    expect(await ask<Health>('health')).toMatchObject({ ledger: { state: 'ready' } });
    expect(await deliver()).toBe(200);
  });
});
