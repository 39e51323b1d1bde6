import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import type { IndexCalls } from '../../../../src/index/index-calls.js';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { createCallbackCounts } from '../../../../src/index/questions/cached-counts.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-04T12:30:00.000Z');

/** An index with jobs of the last hour, and what it was asked. */
function indexOf(jobs: number, since: number | null = null) {
  const receivedAt = new Date(NOW).toISOString();
  const lines = Array.from({ length: jobs }, (_, at) => ledgerLine({ receivedAt, jobId: `j${at}` }));
  return indexWith(lines, since);
}

function indexWith(lines: readonly LedgerLine[], since: number | null = null) {
  const index = createLedgerIndex(':memory:', 'store');
  const content = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
  index.apply([{ hour: NOW - (NOW % HOUR), writer: 'w', number: 1, written: NOW, content }]);
  index.saveRange({ since, until: NOW });
  const asked: string[] = [];
  const calls: IndexCalls = {
    async call(name, ...values) {
      asked.push(name);
      return (index[name] as (...given: typeof values) => ReturnType<(typeof index)[typeof name]>)(...values);
    },
  };
  return { asked, calls, times: (name: string) => asked.filter((each) => each === name).length };
}

describe('how often callbacks are counted', () => {
  it('is each time that somebody asks, while there are few', async () => {
    const { asked, calls } = indexOf(4);
    const count = createCallbackCounts(calls, () => NOW);
    await count(null);
    await count(null);
    expect(asked).toEqual(['countCallbacks', 'countJobs', 'countCallbacks', 'countJobs']);
  });

  it('is rare where there are many, and once for all who ask meanwhile, for each scope', async () => {
    let now = NOW;
    const { times, calls } = indexOf(500);
    const count = createCallbackCounts(calls, () => now);
    await Promise.all([count(null), count(null)]);
    await Promise.all([count(null), count(null)]);
    expect(times('countCallbacks')).toBe(1);
    await count(new Set(['a']));
    expect(times('countCallbacks')).toBe(2);
    now += 9;
    await count(null);
    expect(times('countCallbacks')).toBe(2);
    now += 1;
    await Promise.all([count(null), count(null)]);
    expect(times('countCallbacks')).toBe(3);
  });

  it('does not wait for a clock that was set back', async () => {
    let now = NOW;
    const { times, calls } = indexOf(500);
    const count = createCallbackCounts(calls, () => now);
    await count(null);
    now -= 24 * HOUR;
    await count(null);
    expect(times('countCallbacks')).toBe(2);
  });

  it('sets what a source missed against the jobs of that source', async () => {
    const lines = [
      ledgerLine({ receivedAt: new Date(NOW).toISOString(), jobId: 'a', source: 'big' }),
      ledgerLine({ receivedAt: new Date(NOW).toISOString(), jobId: 'b', source: 'small' }),
      ledgerLine({
        receivedAt: new Date(NOW).toISOString(),
        jobId: 'c',
        source: 'small',
        origin: 'recovery',
        outcome: 'recovered',
      }),
    ];
    const { missed } = await createCallbackCounts(indexWith(lines).calls, () => NOW)(null);
    expect(missed).toMatchObject({ jobs: 1, ofJobs: 3, bySource: [{ source: 'small', jobs: 1, ofJobs: 2 }] });
  });

  it('is rarer still for all jobs of the day, unless the index lacks a part of it', async () => {
    for (const since of [null, NOW - HOUR]) {
      let now = NOW;
      const { times, calls } = indexOf(500, since);
      const count = createCallbackCounts(calls, () => now);
      for (const passed of [0, 10, 80, 10]) {
        now += passed;
        expect((await count(null)).missed.ofJobs).toBe(500);
      }
      expect(times('countCallbacks')).toBe(4);
      expect(times('countJobs')).toBe(since === null ? 2 : 4);
    }
  });
});
