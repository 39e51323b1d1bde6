import { describe, expect, it } from '@jest/globals';
import { createDroppedJobs } from '../../../../../src/ledger/read/window/dropped-jobs.js';

const HOUR = 3_600_000;
const BEGIN = Date.parse('2026-03-04T05:00:00.000Z');

describe('the index of lines that left memory', () => {
  it('knows all lines of a job since an instant, within its bytes', () => {
    const index = createDroppedJobs(64 * 1024);
    for (let n = 0; n < 20_000; n += 1) index.add({ job: `job${n % 5000}`, written: BEGIN + n });
    expect(index.bytes).toBeLessThanOrEqual(64 * 1024);
    expect(index.since).toBeGreaterThan(BEGIN);
    expect(index.since).toBeLessThan(BEGIN + 15_000);
    const known = index.instantsOf('job7').filter((time) => time >= index.since);
    expect(known).toEqual(
      [7, 5007, 10_007, 15_007].map((n) => BEGIN + n).filter((time) => time >= index.since),
    );
  });

  it('forgets lines of hours that are compacted by then', () => {
    const index = createDroppedJobs(1024 * 1024);
    for (let n = 0; n < 20_000; n += 1) index.add({ job: `job${n}`, written: BEGIN + n * 1000 });
    expect(index.since).toBeGreaterThan(BEGIN + 2 * HOUR);
    expect(index.since).toBeLessThan(BEGIN + 20_000_000 - 2 * HOUR + 1000);
    expect(index.bytes).toBeLessThan(72 * 1024);
  });

  it('knows nothing without room for it', () => {
    const index = createDroppedJobs(100);
    index.add({ job: 'job1', written: BEGIN });
    expect(index).toMatchObject({ bytes: 0, since: BEGIN + 1 });
  });
});
