import { describe, expect, it } from '@jest/globals';
import { compactRegularly } from '../../../../src/ledger/compact/compact-regularly.js';
import type { CompactionReport } from '../../../../src/ledger/compact/compaction-report.js';
import { readCompactedLedger } from '../../../support/ledger/compacted-ledger.js';
import { fillHour, partsOf, storeAt } from '../../../support/ledger/compaction-fixture.js';
import { until } from '../../../support/until.js';

function start(overrides: Partial<Parameters<typeof compactRegularly>[0]> = {}) {
  const store = storeAt();
  fillHour(store, '2026-03-04T03');
  fillHour(store, '2026-03-04T04');
  const reports: CompactionReport[] = [];
  const loop = compactRegularly({
    parts: partsOf(store),
    isStoreReady: () => true,
    isBusy: () => false,
    onReport: (report) => reports.push(report),
    random: () => 0,
    interval: 5,
    ...overrides,
  });
  return { store, reports, loop };
}

describe('compactRegularly', () => {
  it('compacts and does so again after each interval', async () => {
    const { store, reports, loop } = start();
    await until(() => reports.length >= 3);
    await loop.stop();
    expect(reports.map(({ files }) => files).slice(0, 3)).toEqual([2, 0, 0]);
    expect((await readCompactedLedger(store)).lines).toHaveLength(30);
  });

  it('leaves a store alone that is not ready', async () => {
    let asked = 0;
    const { store, reports, loop } = start({
      isStoreReady: () => {
        asked += 1;
        return false;
      },
    });
    await until(() => asked >= 3);
    await loop.stop();
    expect(reports).toEqual([]);
    expect(store.calls).toEqual([]);
  });

  it('waits while callbacks need the process, and stops at once all the same', async () => {
    let asked = 0;
    const store = storeAt();
    // Enough work for several turns.
    fillHour(store, '2026-03-04T04', 60);
    const { reports, loop } = start({
      parts: partsOf(store),
      isBusy: () => {
        asked += 1;
        return true;
      },
    });
    await until(() => asked >= 2);
    expect(reports).toEqual([]);
    await loop.stop();
    expect(reports).toMatchObject([{ interrupted: true, files: 0, faults: [] }]);
  });

  it('leaves a state that the next run completes when it is stopped', async () => {
    let stop = () => {};
    const { store, reports, loop } = start({ onFile: () => stop() });
    const stopped = new Promise<void>((resolve) => {
      stop = () => void loop.stop().then(resolve);
    });
    await stopped;
    expect(reports).toMatchObject([{ interrupted: true, files: 1 }]);
    const again = start({ parts: partsOf(store, { planTimeout: 0 }) });
    await until(() => again.reports.length > 0);
    await again.loop.stop();
    const { lines, leftOver } = await readCompactedLedger(store);
    expect({ lines: lines.length, leftOver }).toEqual({ lines: 30, leftOver: [] });
  });
});
