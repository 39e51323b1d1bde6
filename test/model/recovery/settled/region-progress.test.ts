import { describe, expect, it } from '@jest/globals';
import { type ListedState, RegionProgress } from '../../../../src/recovery/settled/region-progress.js';
import { openSettledStore } from '../../../../src/recovery/settled/settled-store.js';
import { contains } from '../../../../src/recovery/settled/time-ranges.js';
import type { JobPage } from '../../../../src/speech/batch/job-pages.js';
import type { JobRecord } from '../../../../src/speech/wire.js';
import { createRandom } from '../../../support/random.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-04T12:34:56.789Z');

interface Job {
  readonly id: string;
  readonly time: number;
  state: ListedState;
}

/** Newest first, as the service lists them. */
function jobsEvery(ms: number, count: number, newest = NOW): Job[] {
  return Array.from({ length: count }, (_, n) => ({ id: `j${n}`, time: newest - n * ms, state: 'matched' }));
}

const records = new WeakMap<Job, JobRecord>();

function record(job: Job): JobRecord {
  const known = records.get(job);
  if (known !== undefined) return known;
  const created_at = new Date(job.time).toISOString();
  const made = { id: job.id, status: 'done', created_at, data_name: '', config: { type: 'transcription' } };
  records.set(job, made);
  return made;
}

interface RunOptions {
  readonly since?: number;
  readonly startedAt?: number;
  readonly full?: boolean;
  /** Pages after which the run is killed. */
  readonly pages?: number;
  /** How long a page takes. Default 0. */
  readonly pageMs?: number;
  readonly page?: (page: JobPage) => JobPage;
}

interface RunResult {
  /** Ids of the jobs that were listed, and of those that had to be looked at. */
  readonly listed: string[];
  readonly looked: string[];
  readonly skipped: { matched: number; ignored: number };
  readonly requests: number;
}

/** What a run does with the list of a region. */
async function run(store: MemoryStore, jobs: readonly Job[], options: RunOptions = {}): Promise<RunResult> {
  const { startedAt = NOW, since = startedAt - 48 * HOUR, full = false, pages = Infinity } = options;
  const { pageMs = 0 } = options;
  let requests = 0;
  const elapsed = () => requests * pageMs;
  const settled = openSettledStore(store, 'eu1', 'scope');
  const progress = await RegionProgress.open({ settled, since, startedAt, tolerance: HOUR, full, elapsed });
  const [listed, looked]: [string[], string[]] = [[], []];
  for (const range of progress.plan.ranges) {
    const own = jobs.filter(({ time }) => contains(range, time));
    progress.begin(range);
    for (let at = 0; at < Math.max(1, own.length); at += 100) {
      requests += 1;
      if (requests > pages) return { listed, looked, skipped: progress.plan.skipped, requests };
      const page = own.slice(at, at + 100);
      const known = await progress.settledOf(page.map(record));
      for (const job of page) {
        listed.push(job.id);
        if (!known.has(job.id)) looked.push(job.id);
        if (job.state === 'matched' && !known.has(job.id)) progress.settle(record(job));
      }
      const states = new Map(page.map(({ id, state }) => [id, state]));
      const whole = { jobs: page.map(record), malformed: 0, gapAt: null, disorder: null };
      await progress.listed(options.page?.(whole) ?? whole, ({ id }) => states.get(id) ?? 'open');
    }
    progress.end(range);
  }
  await progress.finish();
  return { listed, looked, skipped: progress.plan.skipped, requests };
}

describe('the progress through the list of a region', () => {
  it('looks at no settled job again, and lists the newest of them only', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 20_000);
    const first = await run(store, jobs);
    expect([first.listed.length, first.looked.length, first.requests]).toEqual([20_000, 20_000, 200]);
    const { size } = store.objects;
    const second = await run(store, jobs);
    expect([second.looked, store.objects.size]).toEqual([[], size]);
    // The last hour, whose jobs the list may show late, and up to 10,000 older ones.
    expect(second.listed.length).toBeLessThanOrEqual(3601 + 10_000);
    expect(second.listed.length + second.skipped.matched).toBe(20_000);
    expect((await run(store, jobs)).listed).toEqual(second.listed);
  });

  it('writes nothing when nothing changed, and little for few jobs', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(60_000, 800);
    await run(store, jobs);
    // A file of ids for each day.
    expect(store.objects.size).toBe(2);
    await run(store, jobs);
    expect(store.objects.size).toBe(2);
  });

  it('lists a job that is open until it is settled, with a single request', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 20_000);
    const open = jobs[18_000] as Job;
    open.state = 'open';
    await run(store, jobs);
    const second = await run(store, jobs);
    expect(second.looked).toEqual([open.id]);
    open.state = 'matched';
    const third = await run(store, jobs);
    expect([third.looked, third.requests]).toEqual([[open.id], second.requests]);
    const fourth = await run(store, jobs);
    expect([fourth.looked, fourth.listed.includes(open.id)]).toEqual([[], false]);
    expect(fourth.skipped.matched + fourth.listed.length).toBe(20_000);
  });

  it('counts jobs that belong to no source apart', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 20_000);
    for (const job of jobs.slice(15_000)) job.state = 'ignored';
    await run(store, jobs);
    const { skipped, listed } = await run(store, jobs);
    expect(skipped.ignored).toBe(5000);
    expect(skipped.matched).toBe(15_000 - listed.length);
  });

  it('finds a job that the list shows late', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 20_000);
    await run(store, jobs);
    const late = (ms: number) => ({ id: `late${ms}`, time: NOW - ms, state: 'matched' as const });
    const shown = [...jobs, late(HOUR - 500), late(2 * HOUR)].toSorted((a, b) => b.time - a.time);
    expect((await run(store, shown)).looked).toEqual([`late${HOUR - 500}`, `late${2 * HOUR}`]);
  });

  it('lists everything once more a day after it was settled, in case some of it was shown late', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 20_000);
    const startedAt = NOW + 25 * HOUR;
    await run(store, jobs);
    const late = { id: 'late', time: NOW - 5 * HOUR, state: 'matched' as const };
    const shown = [...jobs, late].toSorted((a, b) => b.time - a.time);
    expect(await run(store, jobs, { startedAt: startedAt - 10 * HOUR })).toMatchObject({ looked: [] });
    const again = await run(store, shown, { startedAt });
    expect([again.listed.length, again.looked]).toEqual([20_001, ['late']]);
    const after = await run(store, shown, { startedAt });
    expect(after.listed.length).toBeLessThanOrEqual(3601 + 10_000);
    expect(after.listed.length + after.skipped.matched).toBe(20_001);
  });

  it('is continued where it was saved', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 40_000);
    // A second for each page: saved after 1, 3, 7, 15, 31, 63, 123, 183 and 243 pages.
    await run(store, jobs, { pages: 280, pageMs: 1000 });
    const { looked, listed } = await run(store, jobs);
    expect(looked).toEqual(jobs.slice(24_300).map(({ id }) => id));
    expect(listed.length).toBeLessThanOrEqual(3601 + 10_000 + looked.length);
  });

  it('looks at everything in a full run', async () => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 12_000);
    await run(store, jobs);
    expect((await run(store, jobs, { full: true })).looked).toHaveLength(12_000);
  });

  it.each<[string, (page: JobPage) => JobPage]>([
    ['hides entries', (page) => ({ ...page, malformed: 1 })],
    ['may hide jobs of a millisecond', (page) => ({ ...page, gapAt: page.jobs.at(-1)?.created_at ?? null })],
    [
      'may have hidden jobs of a millisecond on an earlier page',
      (page) => ({
        ...page,
        gapAt: new Date(Date.parse(page.jobs[0]?.created_at ?? '') + 60_000).toISOString(),
      }),
    ],
  ])('lists a place again where the list %s', async (_name, spoil) => {
    const store = createMemoryStore();
    const jobs = jobsEvery(1000, 20_000);
    const border = jobs[18_099] as Job;
    await run(store, jobs, { page: (page) => (page.jobs.at(-1)?.id === border.id ? spoil(page) : page) });
    expect((await run(store, jobs)).listed).toContain(border.id);
    expect((await run(store, jobs)).listed).not.toContain(border.id);
  });

  it('leaves no job out that no run has seen settled, wherever runs were cut off', async () => {
    const random = createRandom(7, 'progress');
    const store = createMemoryStore();
    const seen = new Set<string>();
    let now = NOW;
    let jobs: Job[] = [];
    let skipped = 0;
    for (let round = 0; round < 20; round += 1) {
      now += random.whole(0, HOUR);
      const added = Array.from({ length: random.whole(0, 2500) }, (_, n): Job => {
        // Several of a second, and some older than what was listed before.
        return { id: `r${round}n${n}`, time: now - random.whole(0, 300) * 1000, state: 'open' };
      });
      jobs = [...jobs, ...added].toSorted((a, b) => b.time - a.time);
      for (const job of jobs) if (random.chance(0.98)) job.state = 'matched';
      const pages = random.chance(0.3) ? random.whole(0, 100) : Infinity;
      const result = await run(store, jobs, { startedAt: now, pages });
      const looked = new Set(result.looked);
      if (pages === Infinity) {
        expect(jobs.filter(({ id }) => !seen.has(id) && !looked.has(id))).toEqual([]);
        expect(result.listed.length + result.skipped.matched).toBe(jobs.length);
      }
      for (const { id, state } of jobs) if (state === 'matched' && looked.has(id)) seen.add(id);
      skipped = Math.max(skipped, result.skipped.matched);
    }
    expect(skipped).toBeGreaterThan(3000);
  });
});
