import { afterEach, describe, expect, it } from '@jest/globals';
import { compact } from '../../../../../src/ledger/compact/compact.js';
import { createLedgerView, type LedgerView } from '../../../../../src/ledger/read/ledger-view.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';
import { until } from '../../../../support/until.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-03-04T08:30:00.000Z');

/** A view over a store that can be away, and a clock; the ledger's lines are written by another replica. */
function world() {
  let now = START;
  const settings = { isAway: false, ahead: 0 };
  const memory = createMemoryStore(
    () => {
      if (settings.isAway) throw new StoreError('test', 'the store is away');
    },
    () => now,
  );
  const store = { ...memory, clockOffset: () => -settings.ahead };
  const view = createLedgerView({ store, clock: () => now + settings.ahead });
  return {
    ...{ view, settings },
    wait: (ms: number) => {
      now += ms;
    },
    put: (writer: string, jobId: string) => {
      const receivedAt = new Date(now).toISOString();
      putSegment(memory, receivedAt, [ledgerLine({ jobId, receivedAt, outcome: 'failed' })], writer);
    },
    refresh: () => view.refresh().catch(() => undefined),
    compact: () => compact({ store: memory, clock: () => now, keepSegments: 24 * HOUR }),
  };
}

async function jobsOf(view: LedgerView) {
  await view.readPast();
  const [page, failures, summary] = await Promise.all([
    view.deliveries(),
    view.openFailures({ limit: 100 }),
    view.summary({ since: new Date(START - HOUR).toISOString() }),
  ]);
  const { complete } = failures;
  return {
    page: page.deliveries.map(({ jobId }) => jobId),
    failures: failures.failures.map(({ jobId }) => jobId).sort(),
    ...{ complete, counted: Object.values(summary.total.outcomes).reduce((a, b) => a + b, 0) },
  };
}

describe('a view that follows the ledger', () => {
  const views: LedgerView[] = [];
  afterEach(async () => {
    await Promise.all(views.splice(0).map((view) => view.stop()));
  });

  function begin() {
    const made = world();
    views.push(made.view);
    return made;
  }

  it.each([
    ['an hour that became whole since its last look', 55 * MINUTE],
    ['90 minutes', 90 * MINUTE],
    ['three hours', 3 * HOUR],
    ['three days, after which the segments are gone', 72 * HOUR],
  ])('reads what was written while the store was away for %s', async (_, outage) => {
    const { view, settings, wait, put, refresh, compact } = begin();
    put('one', 'first');
    await refresh();
    wait(1000);
    put('two', 'just before');
    settings.isAway = true;
    await refresh();
    for (const job of ['b', 'c', 'd', 'e']) {
      wait(outage / 5);
      put(job === 'c' ? 'one' : 'two', job);
      await refresh();
    }
    wait(outage / 5);
    settings.isAway = false;
    await compact();
    await refresh();
    await refresh();
    wait(11_000);
    expect(await jobsOf(view)).toMatchObject({
      page: ['e', 'd', 'c', 'b', 'just before', 'first'],
      failures: ['b', 'c', 'd', 'e', 'first', 'just before'],
      ...{ complete: true, counted: 6 },
    });
  });

  it('reads every line while its clock jumps ahead of the store by three hours, and back', async () => {
    const { view, settings, wait, put, refresh } = begin();
    const jobs: string[] = [];
    for (const ahead of [0, 3 * HOUR, 3 * HOUR, 0, 0]) {
      settings.ahead = ahead;
      wait(20 * MINUTE);
      for (const writer of ['one', 'two']) {
        jobs.push(`${writer} ${jobs.length}`);
        put(writer, jobs.at(-1) ?? '');
        wait(1000);
      }
      await refresh();
    }
    const { page, failures } = await jobsOf(view);
    expect(page.toSorted()).toEqual(jobs.toSorted());
    expect(failures).toEqual(jobs.toSorted());
  });

  it('says that lines are missing when the process slept, until it has read them', async () => {
    const { view, wait, put } = begin();
    put('one', 'first');
    view.start();
    await until(() => view.status().refreshedAt !== null);
    wait(2 * HOUR);
    put('two', 'meanwhile');
    expect(await view.deliveries()).toMatchObject({ complete: false });
    await view.refresh();
    expect(await view.deliveries()).toMatchObject({ complete: true, deliveries: [{}, {}] });
  });
});
