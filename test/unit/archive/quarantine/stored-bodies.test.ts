import { describe, expect, it } from '@jest/globals';
import { createStoredBodies } from '../../../../src/archive/quarantine/stored-bodies.js';

const waiting = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `b${index}`, state: 'waiting' }));

describe('waiting bodies whose job was stored', () => {
  it('stay so, and are not asked for again', async () => {
    let now = 0;
    const inArchive = new Set(['b1']);
    const asked: string[] = [];
    const bodies = createStoredBodies(
      async (id) => {
        asked.push(id);
        return inArchive.has(id);
      },
      () => now,
    );
    expect([...(await bodies.among(waiting(3), 9))]).toEqual(['b1']);
    inArchive.clear();
    inArchive.add('b0');
    now += 60;
    expect([...(await bodies.among(waiting(3), 9))].sort()).toEqual(['b0', 'b1']);
    expect(asked).toEqual(['b0', 'b1', 'b2', 'b0', 'b2']);
    now += 60;
    expect([...(await bodies.among(waiting(1), 9))]).toEqual(['b0']);
  });

  it('are looked for among waiting ones only, at no more than 50 a second', async () => {
    let now = 0;
    let asked = 0;
    const bodies = createStoredBodies(
      async () => {
        asked += 1;
        return false;
      },
      () => now,
    );
    const listed = [...waiting(500), { id: 'r', state: 'released' }, { id: 's', state: 'settled' }];
    await bodies.among(listed, 500);
    expect(asked).toBe(500);
    now = 9999;
    await bodies.among(listed, 500);
    expect(asked).toBe(500);
    now = 10_000;
    await bodies.among(listed, 500);
    expect(asked).toBe(1000);
  });

  it('are found by and by where one call asks for a few', async () => {
    let now = 0;
    const asked: string[] = [];
    const bodies = createStoredBodies(
      async (id) => {
        asked.push(id);
        return id === 'b4';
      },
      () => now,
    );
    for (const expected of [[], [], ['b4'], ['b4']]) {
      expect([...(await bodies.among(waiting(5), 2))]).toEqual(expected);
      now += 40;
    }
    expect(asked).toEqual(['b0', 'b1', 'b2', 'b3', 'b4', 'b0', 'b1', 'b2']);
  });

  it('are not forgotten when the store cannot be asked', async () => {
    let now = 0;
    let fails = false;
    const bodies = createStoredBodies(
      async (id) => {
        if (fails) throw new Error('store away');
        return id === 'b0';
      },
      () => now,
    );
    await bodies.among(waiting(2), 9);
    fails = true;
    now = 1000;
    await expect(bodies.among(waiting(2), 9)).rejects.toThrow('store away');
    fails = false;
    expect([...(await bodies.among(waiting(2), 9))]).toEqual(['b0']);
  });
});
