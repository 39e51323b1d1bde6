import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type FetchPage, type JobPage, PAGE_SIZE, walkJobs } from '../../../../src/speech/batch/job-pages.js';
import type { JobRecord } from '../../../../src/speech/wire.js';
import { displacements, type ListedJob, listedPage } from '../../../support/recovery/listed-service.js';

function job(id: string, createdAt: number): JobRecord {
  return {
    id,
    status: 'done',
    created_at: new Date(createdAt).toISOString(),
    data_name: '',
    config: { type: 'transcription' },
  };
}

/** A server over fixed jobs; `inclusive` counts equal times in, `cap` makes pages smaller than requested. */
function server(jobs: readonly JobRecord[], habits: { inclusive: boolean; cap: number }): FetchPage {
  const sorted = [...jobs].sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));
  return async (createdBefore) => {
    const before = createdBefore === null ? Number.POSITIVE_INFINITY : Date.parse(createdBefore);
    const within = sorted.filter(({ created_at }) => {
      const at = Date.parse(created_at);
      return at < before || (habits.inclusive && at === before);
    });
    return { jobs: within.slice(0, habits.cap), malformed: 0 };
  };
}

async function walk(fetch: FetchPage, since?: number): Promise<JobPage[]> {
  const pages: JobPage[] = [];
  for await (const page of walkJobs(fetch, since)) {
    pages.push(page);
    if (pages.length > 2_000) throw new Error('walks for ever');
  }
  return pages;
}

const ids = (pages: readonly JobPage[]) => pages.flatMap(({ jobs }) => jobs.map(({ id }) => id));

describe('walking the job list', () => {
  // Rule: Silences: parameters and pages of lists
  it('meets every job exactly once, wherever page borders fall', async () => {
    const lists = fc.record({
      count: fc.integer({ min: 0, max: 400 }),
      perMillisecond: fc.integer({ min: 1, max: 30 }),
      inclusive: fc.boolean(),
      cap: fc.constantFrom(100, 100, 95, 64),
    });
    await fc.assert(
      fc.asyncProperty(lists, async ({ count, perMillisecond, ...habits }) => {
        const jobs = Array.from({ length: count }, (_, index) =>
          job(`j${index}`, 1_700_000_000_000 + Math.floor(index / perMillisecond)),
        );
        const found = ids(await walk(server(jobs, habits)));
        expect(found).toHaveLength(jobs.length);
        expect(new Set(found)).toEqual(new Set(jobs.map(({ id }) => id)));
      }),
      { numRuns: 100 },
    );
  });

  it("lists every job when the server's pages are smaller than requested", async () => {
    const jobs = Array.from({ length: 230 }, (_, index) =>
      job(`j${index}`, 1_700_000_000_000 + Math.floor(index / 3)),
    );
    expect(new Set(ids(await walk(server(jobs, { inclusive: false, cap: 20 })))).size).toBe(230);
  });

  it('goes on behind more jobs of one millisecond than a page holds, and says where it cannot be sure', async () => {
    const at = 1_700_000_000_000;
    const crowd = Array.from({ length: 130 }, (_, index) => job(`crowd-${index}`, at));
    const pages = await walk(server([...crowd, job('older', at - 5)], { inclusive: false, cap: 100 }));
    expect(ids(pages)).toHaveLength(101);
    expect(ids(pages)).toContain('older');
    expect(pages.map(({ gapAt }) => gapAt).filter(Boolean)).toEqual([new Date(at).toISOString()]);
  });

  it.each([
    ['on the first page', 0, 15],
    ['behind others', 35, 15],
    ['behind others, at the end of the list', 35, 0],
  ])('says so too when the server sends smaller pages than requested: %s', async (_, newer, older) => {
    const at = 1_700_000_000_000;
    const jobs = [
      ...Array.from({ length: newer }, (_, index) => job(`newer-${index}`, at + 1000 - index)),
      ...Array.from({ length: 30 }, (_, index) => job(`crowd-${index}`, at)),
      ...Array.from({ length: older }, (_, index) => job(`older-${index}`, at - 1 - index)),
    ];
    for (const inclusive of [false, true]) {
      const pages = await walk(server(jobs, { inclusive, cap: 20 }));
      expect(ids(pages).filter((id) => !id.startsWith('crowd'))).toHaveLength(newer + older);
      expect(pages.map(({ gapAt }) => gapAt).filter(Boolean)).toEqual([new Date(at).toISOString()]);
    }
  });

  it('rejects an empty page where the page before it had older jobs: the rest of the list would be hidden', async () => {
    const jobs = Array.from({ length: 250 }, (_, index) =>
      job(`j${index}`, 1_700_000_000_000 - index * 1000),
    );
    const sound = server(jobs, { inclusive: false, cap: 100 });
    let pages = 0;
    const broken: FetchPage = async (...asked) => {
      pages += 1;
      return pages === 2 ? { jobs: [], malformed: 0 } : sound(...asked);
    };
    await expect(walk(broken)).rejects.toThrow(/a page is empty/);
  });

  it('ends at an empty page of a server that compares times in whole seconds', async () => {
    const jobs = [job('newer', 1_700_000_000_500), job('older', 1_700_000_000_100)];
    const sound = server(jobs, { inclusive: false, cap: 100 });
    const coarse: FetchPage = (before) => sound(before?.replace(/\.\d+/, '.000') ?? null);
    expect(ids(await walk(coarse))).toEqual(['newer', 'older']);
  });

  it('reports no gap for a list that is smaller than a page', async () => {
    const jobs = Array.from({ length: 30 }, (_, index) => job(`j${index}`, 1_700_000_000_000));
    const pages = await walk(server(jobs, { inclusive: false, cap: 100 }));
    expect(ids(pages)).toHaveLength(30);
    expect(pages.every(({ gapAt }) => gapAt === null)).toBe(true);
  });

  describe('that is not newest first', () => {
    const MINUTE = 60_000;
    const count = 400;
    /** A server that shows jobs in a given order, whatever their times. */
    const unordered =
      (jobs: readonly JobRecord[], cap = PAGE_SIZE): FetchPage =>
      async (createdBefore) => {
        const before = createdBefore === null ? Number.POSITIVE_INFINITY : Date.parse(createdBefore);
        const within = jobs.filter(({ created_at }) => Date.parse(created_at) < before);
        return { jobs: within.slice(0, cap), malformed: 0 };
      };
    /** Newest first, a job each `every` milliseconds, `off` milliseconds wrong by front end. */
    const frontEnds = (every: number, off: number, jobs = count, ends = 3) =>
      Array.from({ length: jobs }, (_, index) =>
        job(`j${index}`, 1_700_000_000_000 - index * every + (index % ends) * off),
      );
    const ascending = frontEnds(1000, 0).reverse();

    it.each<[string, readonly JobRecord[]]>([
      ['two front ends 25 ms apart, a job each 10 ms', frontEnds(10, 25, 3000, 2)],
      ['three front ends 25 ms apart, a job each minute', frontEnds(MINUTE, 25)],
      ['two front ends 5 minutes apart, a job each minute', frontEnds(MINUTE, 5 * MINUTE, count, 2)],
      ['two front ends 30 minutes apart, a job each minute', frontEnds(MINUTE, 30 * MINUTE, count, 2)],
      [
        'one job 5 minutes early on a late page',
        frontEnds(MINUTE, 0).map((each, index) =>
          index === 350 ? job(each.id, Date.parse(each.created_at) - 5 * MINUTE) : each,
        ),
      ],
      [
        'one job 5 minutes late behind a border, and no other sign',
        frontEnds(MINUTE, 0).map((each, index) =>
          index === 100 ? job(each.id, Date.parse(each.created_at) + 4.5 * MINUTE) : each,
        ),
      ],
      ['the oldest of 3,000 jobs first', [job('oldest', 0), ...frontEnds(MINUTE, 0, 3000)]],
      ['each job twice', frontEnds(1000, 0).flatMap((each) => [each, each])],
      ['fewer than a page, oldest first', ascending.slice(0, 60)],
    ])('yields each job once: %s', async (_, jobs) => {
      const pages = await walk(unordered(jobs));
      const found = ids(pages);
      expect(found).toHaveLength(new Set(found).size);
      expect(new Set(found)).toEqual(new Set(jobs.map(({ id }) => id)));
      expect(pages.filter(({ disorder, gapAt }) => disorder !== null || gapAt !== null)).toEqual([]);
    });

    it.each<[string, readonly JobRecord[], number]>([
      ['oldest first', ascending, PAGE_SIZE],
      [
        'shuffled',
        frontEnds(1000, 0).map((each, index, all) => all[(index * 149) % all.length] ?? each),
        PAGE_SIZE,
      ],
      ['5 minutes off within seconds', frontEnds(10, 5 * MINUTE), PAGE_SIZE],
      [
        'one job 3 minutes late behind a page of 20',
        frontEnds(MINUTE, 0, 25).map((each, index) =>
          index === 22 ? job(each.id, Date.parse(each.created_at) + 3.5 * MINUTE) : each,
        ),
        20,
      ],
    ])('says that jobs may be hidden: %s', async (_, jobs, cap) => {
      const pages = await walk(unordered(jobs, cap));
      const found = ids(pages);
      expect(found).toHaveLength(new Set(found).size);
      expect(pages.at(-1)?.disorder).toBeGreaterThan(0);
    });

    /** When a job was made, in milliseconds after the one before it, and how late the list has it, from 0 to 1. */
    const steps = fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: 24 }).map((power) => 2 ** power),
        fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
      ),
      { minLength: 100, maxLength: 500, size: 'max' },
    );
    /** Jobs from new to old, of which every `every`-th comes up to `most` places late. */
    const listed = (each: readonly (readonly [number, number])[], most: number, every = 1): ListedJob[] => {
      let createdAt = 1_700_000_000_000;
      return each
        .map(([step, late], index) => {
          createdAt -= step;
          const key = index + (index % every === 0 ? Math.round(late * most) : 0);
          return { key, id: `j${index}`, createdAt };
        })
        .sort((one, other) => one.key - other.key);
    };
    const walkListed = async (jobs: readonly ListedJob[]) => {
      const pages = await walk(async (createdBefore) => {
        const page = listedPage(jobs, createdBefore === null ? null : Date.parse(createdBefore), PAGE_SIZE);
        return { jobs: page.map(({ id, createdAt }) => job(id, createdAt)), malformed: 0 };
      });
      return { found: ids(pages), isComplete: pages.every(({ disorder }) => disorder === null) };
    };

    it('yields every job that has at most as many older ones before it as a quarter of a page', async () => {
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 0, max: 25 }), async (each, most) => {
          const { found, isComplete } = await walkListed(listed(each, most));
          expect(found).toHaveLength(each.length);
          expect(new Set(found).size).toBe(each.length);
          if (most <= 12) expect(isComplete).toBe(true);
        }),
        { numRuns: 100 },
      );
    });

    it('yields a job displaced by a quarter of a page behind a page that descends, and says that others may be hidden', async () => {
      const jobs = frontEnds(MINUTE, 0).map((each, index) =>
        index === 100 ? job(each.id, Date.parse(each.created_at) + 25.5 * MINUTE) : each,
      );
      const pages = await walk(unordered(jobs));
      expect(ids(pages)).toHaveLength(count);
      expect(pages.at(-1)?.disorder).toBe(24.5 * MINUTE);
    });

    it('yields every job that is no further from its place than promised, whatever the order', async () => {
      const mosts = fc.integer({ min: 0, max: 300 });
      const everys = fc.integer({ min: 1, max: 20 });
      await fc.assert(
        fc.asyncProperty(steps, mosts, everys, async (each, most, every) => {
          const jobs = listed(each, most, every);
          const { found, isComplete } = await walkListed(jobs);
          const of = displacements(jobs);
          const seen = Math.max(0, ...found.map((id) => of.get(id) ?? 0));
          const promised = Math.max(PAGE_SIZE / 4, isComplete ? 2 * seen : 0);
          const missed = jobs.filter(({ id }) => !found.includes(id));
          expect(found).toHaveLength(new Set(found).size);
          expect(missed.filter(({ id }) => (of.get(id) ?? 0) <= promised)).toEqual([]);
        }),
        { numRuns: 150 },
      );
    });

    it('yields every job, or says that jobs may be hidden, when any job may be late', async () => {
      const random = (seed: number) => () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed / 2_147_483_647;
      };
      const seeds = fc.integer({ min: 1, max: 1_000_000 });
      const mosts = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constant(1e6));
      await fc.assert(
        fc.asyncProperty(seeds, mosts, async (seed, most) => {
          const next = random(seed);
          const each = Array.from(
            { length: 600 },
            () => [1 + Math.floor(next() ** 8 * 100_000), next()] as const,
          );
          const { found, isComplete } = await walkListed(listed(each, most));
          if (isComplete) expect(new Set(found).size).toBe(each.length);
        }),
        { numRuns: 100 },
      );
    });

    it('ends, and yields no job twice, whatever the order', async () => {
      const times = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 400, size: 'max' });
      await fc.assert(
        fc.asyncProperty(times, async (offsets) => {
          const jobs = offsets.map((offset, index) => job(`j${index}`, 1_700_000_000_000 + offset));
          const found = ids(await walk(unordered(jobs)));
          expect(found).toHaveLength(new Set(found).size);
        }),
        { numRuns: 100 },
      );
    });
  });

  it('looks back no further than the window', async () => {
    const jobs = Array.from({ length: 500 }, (_, index) => job(`j${index}`, 1_000_000 + index));
    let asked = 0;
    const fetch = server(jobs, { inclusive: false, cap: 100 });
    const counted: FetchPage = (...args) => {
      asked += 1;
      return fetch(...args);
    };
    expect(ids(await walk(counted, 1_000_380))).toEqual(
      Array.from({ length: 120 }, (_, index) => `j${499 - index}`),
    );
    expect(asked).toBe(2);
  });

  // Rule: Silences: parameters and pages of lists
  it('refuses a server that ignores created_before rather than returning half a list', async () => {
    const jobs = Array.from({ length: 300 }, (_, index) =>
      job(`j${index}`, 1_700_000_000_000 + index * 1_000),
    );
    const fetch = server(jobs, { inclusive: false, cap: 100 });
    await expect(walk(() => fetch(null))).rejects.toMatchObject({
      kind: 'invalid-response',
      message: expect.stringContaining('created_before is not honoured'),
    });
  });

  it('takes less than a page of a server that ignores created_before for its whole list', async () => {
    const jobs = Array.from({ length: 30 }, (_, index) =>
      job(`j${index}`, 1_700_000_000_000 - index * 60_000),
    );
    expect(ids(await walk(async () => ({ jobs, malformed: 0 })))).toEqual(jobs.map(({ id }) => id));
  });

  it('refuses a server that ignores created_before also while new jobs keep coming', async () => {
    const START = 1_700_000_000_000;
    const jobs = Array.from({ length: 300 }, (_, index) => job(`j${index}`, START + index * 1_000));
    const fetch: FetchPage = () => {
      jobs.push(job(`j${jobs.length}`, START + jobs.length * 1_000));
      return server(jobs, { inclusive: false, cap: 100 })(null);
    };
    await expect(walk(fetch)).rejects.toMatchObject({
      kind: 'invalid-response',
      message: expect.stringContaining('created_before is not honoured'),
    });
    expect(jobs.length).toBeLessThan(320);
  });

  it('refuses a server that ignores created_before and shows another job each time', async () => {
    let calls = 0;
    const fetch: FetchPage = async () => {
      calls += 1;
      return { jobs: [job(`j${calls}`, 1_700_000_000_000 + calls * 60_000)], malformed: 0 };
    };
    await expect(walk(fetch)).rejects.toThrow('created_before is not honoured');
    expect(calls).toBe(2);
  });

  it('refuses a page without a single job record', async () => {
    await expect(walk(async () => ({ jobs: [], malformed: 3 }))).rejects.toMatchObject({
      kind: 'invalid-response',
    });
  });
});
