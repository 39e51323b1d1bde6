import { describe, expect, it } from '@jest/globals';
import {
  createQuarantineCount,
  type QuarantineEntry,
} from '../../../../src/archive/quarantine/quarantine-count.js';

type Entry = QuarantineEntry;

const waiting = (count: number): Entry[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `b${String(n).padStart(4, '0')}`,
    bytes: 2,
    state: 'waiting',
  }));

/** A quarantine in memory, with what was listed and looked up. */
function quarantine(bodies: Entry[], archived: ReadonlySet<string> = new Set()) {
  const seen = { now: 0, listed: [] as string[], lookedUp: [] as string[], onListed: (_id: string) => {} };
  const count = createQuarantineCount({
    async *entries({ after, signal }) {
      for (const body of bodies.filter(({ id }) => id > after)) {
        seen.listed.push(body.id);
        seen.onListed(body.id);
        signal?.throwIfAborted();
        yield body;
      }
    },
    isStored: async (id) => {
      seen.lookedUp.push(id);
      return archived.has(id);
    },
    clock: () => seen.now,
  });
  return { seen, count };
}

describe('the count of the quarantine', () => {
  it('is by state; one whose job was stored is settled, and stays so', async () => {
    const archived = new Set(['b0001']);
    const bodies = [
      ...waiting(3),
      { id: 'r', bytes: 5, state: 'released' } as const,
      { id: 's', bytes: 5, state: 'settled' } as const,
    ];
    const { seen, count } = quarantine(bodies, archived);
    const expected = { waiting: 2, waitingBytes: 4, released: 1, settled: 2 };
    expect(await count()).toEqual(expected);
    archived.clear();
    seen.now = 10_000;
    expect(await count()).toEqual(expected);
    expect(seen.lookedUp).toEqual(['b0000', 'b0001', 'b0002', 'b0000', 'b0002']);
  });

  it('is shared by all who ask at once, and good for two seconds', async () => {
    const { seen, count } = quarantine(waiting(3));
    await Promise.all([count(), count(), count()]);
    seen.now = 1_999;
    await count();
    expect(seen.listed).toHaveLength(3);
    seen.now = 2_000;
    await count();
    expect(seen.listed).toHaveLength(6);
  });

  it('goes on where a deadline ended it, and says so until it has counted all once', async () => {
    const { seen, count } = quarantine(waiting(100));
    const ending = new AbortController();
    seen.onListed = (id) => id === 'b0040' && ending.abort();
    await expect(count(ending.signal)).rejects.toThrow('still being counted, 40 bodies so far');
    expect(seen.listed).toHaveLength(41);
    expect(await count(new AbortController().signal)).toMatchObject({ waiting: 100 });
    expect(seen.listed).toHaveLength(41 + 60);
    // Later ones have the last whole count, unless nothing comes.
    seen.now = 60_000;
    const next = new AbortController();
    seen.onListed = (id) => id === 'b0040' && next.abort();
    expect(await count(next.signal)).toMatchObject({ waiting: 100 });
    expect(seen.listed).toHaveLength(101 + 41);
    await expect(count(AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  });

  it('rests ten times as long as it took', async () => {
    const { seen, count } = quarantine(waiting(1));
    seen.onListed = () => {
      seen.now += 5_000;
    };
    await count();
    seen.now = 54_999;
    await count();
    expect(seen.listed).toHaveLength(1);
    seen.now = 55_000;
    await count();
    expect(seen.listed).toHaveLength(2);
  });

  it('looks 200 up in the archive, at no more than 50 a second, and all of them by and by', async () => {
    const archived = new Set(['b0450']);
    const { seen, count } = quarantine(waiting(500), archived);
    expect(await count()).toMatchObject({ waiting: 500, settled: 0 });
    expect(seen.lookedUp).toHaveLength(200);
    seen.now = 3_999;
    await count();
    expect(seen.lookedUp).toHaveLength(200);
    seen.now = 4_000;
    await count();
    seen.now = 8_000;
    expect(await count()).toMatchObject({ waiting: 499, settled: 1 });
    expect(seen.lookedUp).toHaveLength(600);
    expect(new Set(seen.lookedUp).size).toBe(500);
  });
});
