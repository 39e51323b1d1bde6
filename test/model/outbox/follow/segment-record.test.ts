import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeTime } from 'ulid';
import { createSegmentRecord } from '../../../../src/outbox/follow/segment-record.js';

const BEGIN = Date.parse('2026-03-04T05:00:00Z');

/** A segment's name: written so many milliseconds into the hour. */
function nameAt(ms: number, replica = 'receiver-0', random = 0): string {
  return `${encodeTime(BEGIN + ms)}${String(random).padStart(16, '0')}-${replica}`;
}

/** As a replica that takes over reads it back. */
function reloaded(record: ReturnType<typeof createSegmentRecord>) {
  return createSegmentRecord(JSON.parse(JSON.stringify(record.document())));
}

describe('the record of an hour', () => {
  it('has a bounded size with an hour of 100,000 segments of 200 replicas, and notices one that is late', () => {
    const names = Array.from({ length: 100_000 }, (_, index) =>
      nameAt(index * 36, `receiver-with-a-long-name-of-sixty-four-characters-in-it-${index % 200}`),
    );
    const record = createSegmentRecord();
    for (const name of names) {
      record.add(name);
      record.compress(500);
    }
    const { length } = JSON.stringify(record.document());
    expect(length).toBeLessThan(60_000);
    const again = reloaded(record);
    expect(again.unread(names)).toEqual([]);
    const late = nameAt(1_800_001, 'hung');
    const [unread, ...others] = again.unread([...names, late].sort());
    expect(others).toEqual([]);
    expect(unread?.names).toContain(late);
    expect(unread?.names.length).toBeLessThan(4_100);
  });

  it('knows every name of a small hour, so that nothing is read twice', () => {
    const record = createSegmentRecord();
    for (let index = 0; index < 500; index += 1) {
      record.add(nameAt(index * 7000));
      record.compress(500);
    }
    const late = nameAt(3);
    expect(record.has(late)).toBe(false);
    expect(record.unread([late])).toEqual([{ names: [late], range: null }]);
  });

  it('finds a segment of a replica whose clock is behind, also below the names that are only counted', () => {
    const record = createSegmentRecord();
    for (let index = 0; index < 2000; index += 1) {
      record.add(nameAt(index * 100, 'a'));
      if (index % 10 === 0) record.add(nameAt(index * 100 - 60_000, 'behind'));
      record.compress(50);
    }
    const next = nameAt(2000 * 100 - 60_000, 'behind');
    expect(record.has(next)).toBe(false);
    record.add(next);
    expect(record.has(next)).toBe(true);
  });

  it('never loses a segment, and repeats none without a late one', () => {
    const step = fc.record({
      ms: fc.integer({ min: 0, max: 3_599_999 }),
      replica: fc.constantFrom('a', 'b', 'c'),
      read: fc.boolean(),
      action: fc.constantFrom('none', 'compress', 'reload', 'close'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 0, max: 20 }), (steps, keep) => {
        let record = createSegmentRecord();
        const all = new Set<string>();
        const read = new Set<string>();
        for (const [index, { ms, replica, read: isRead, action }] of steps.entries()) {
          const name = nameAt(ms, replica, index);
          all.add(name);
          if (isRead && !record.has(name)) {
            record.add(name);
            read.add(name);
          }
          if (action === 'compress') record.compress(keep);
          if (action === 'reload') record = reloaded(record);
          if (action === 'close') record.close();
        }
        const names = [...all].sort();
        const unread = record.unread(names);
        const found = new Set(unread.flatMap((group) => group.names));
        expect(names.filter((name) => !read.has(name) && !found.has(name))).toEqual([]);
        expect(record.unread([...read].sort())).toEqual([]);
        for (const group of unread) record.settle(group);
        expect(record.unread(names)).toEqual([]);
      }),
    );
  });

  it('counts nothing over a segment that is being read', () => {
    const record = createSegmentRecord();
    for (let index = 0; index < 20; index += 1) record.add(nameAt(index, 'a'));
    record.compress(5, nameAt(4, 'a'));
    expect(record.document().counted).toEqual([[nameAt(3, 'a'), 4]]);
  });
});
