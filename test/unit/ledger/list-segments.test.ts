import { describe, expect, it } from '@jest/globals';
import { openHours } from '../../../src/ledger/hours.js';
import { listSegments } from '../../../src/ledger/list-segments.js';
import { parseSegmentKey, segmentKey } from '../../../src/ledger/segment-key.js';
import { createMemoryStore } from '../../support/store/memory-store.js';
import { partialListings } from '../../support/store/partial-listings.js';

const HOUR = 'dt=2026-03-04/hour=05/';

function storeWith(numbers: Readonly<Record<string, number>>) {
  const store = createMemoryStore();
  for (const [writer, last] of Object.entries(numbers)) {
    for (let number = 1; number <= last; number += 1)
      store.put(segmentKey({ hour: HOUR, writer, number }), '');
  }
  return store;
}

describe('the segments behind a position', () => {
  it('are listed in a call for each writer of many, in the order of writers and numbers', async () => {
    const store = storeWith({ a: 1, 'a-b': 2000, b: 2000, c: 2 });
    store.put(`ledger/${HOUR}notes.txt`, 'not ours');
    const found: string[] = [];
    const position = new Map([
      ['a', 1],
      ['a-b', 1998],
      ['b', 2000],
    ]);
    for await (const { writer, number } of listSegments(store, HOUR, undefined, position))
      found.push(`${writer} ${number}`);
    expect(found).toEqual(['a-b 1999', 'a-b 2000', 'c 1', 'c 2']);
    expect(store.calls).toHaveLength(3);
  });

  it('are not all there when a writer is left out that was read before', async () => {
    const store = storeWith({ a: 2, b: 2 });
    const position = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    const found: string[] = [];
    const list = async (isLeftOut: (key: string) => boolean) => {
      found.length = 0;
      for await (const { writer, number } of listSegments(
        partialListings(store, isLeftOut),
        HOUR,
        undefined,
        position,
      ))
        found.push(`${writer} ${number}`);
    };
    await expect(list((key) => key.includes('/b~'))).rejects.toThrow(/is not whole: it lacks .*b~00000002/);
    expect(found).toEqual(['a 2']);
    // Those of a merged hour may have been deleted.
    for (const key of [...store.objects.keys()].filter((each) => each.includes('/b~')))
      store.objects.delete(key);
    await list(() => false);
    expect(found).toEqual(['a 2']);
  });

  it('have the time of the store, within their hour', async () => {
    const store = createMemoryStore();
    const times = ['2026-03-04T04:00:00Z', '2026-03-04T05:30:00Z', '2026-03-04T06:10:00Z'];
    times.forEach((time, index) => {
      const key = segmentKey({ hour: HOUR, writer: 'a', number: index + 1 });
      store.put(key, '', Date.parse(time));
    });
    const found: string[] = [];
    for await (const { writtenAt } of listSegments(store, HOUR))
      found.push(new Date(writtenAt).toISOString());
    expect(found).toEqual([
      '2026-03-04T05:00:00.000Z',
      '2026-03-04T05:30:00.000Z',
      '2026-03-04T05:59:59.999Z',
    ]);
  });
});

describe('the key of a segment', () => {
  it('names hour, writer and number', () => {
    const place = { hour: HOUR, writer: '01KJX3VZ8Q4M7T9B0C2D5E6F7G-receiver-0', number: 12 };
    const key = 'ledger/dt=2026-03-04/hour=05/01KJX3VZ8Q4M7T9B0C2D5E6F7G-receiver-0~00000012.ndjson';
    expect(segmentKey(place)).toBe(key);
    expect(parseSegmentKey(key)).toEqual(place);
  });

  it.each([
    'ledger/dt=2026-03-04/hour=05/a~00000000.ndjson',
    'ledger/dt=2026-03-04/hour=05/a~1.ndjson',
    'ledger/dt=2026-03-04/hour=05/a~b~00000001.ndjson',
    'ledger/dt=2026-03-04/hour=05/below/a~00000001.ndjson',
    'ledger/dt=2026-03-04/hour=25/a~00000001.ndjson',
    'ledger/dt=2026-03-04/hour=05/notes.txt',
  ])('is not %s', (key) => {
    expect(parseSegmentKey(key)).toBeNull();
  });
});

describe('an hour', () => {
  it.each([
    ['2026-03-04T06:00:00.000Z', ['05', '06']],
    ['2026-03-04T06:19:59.999Z', ['05', '06']],
    ['2026-03-04T06:20:00.000Z', ['06']],
    ['2026-03-04T06:54:59.999Z', ['06']],
    ['2026-03-04T06:55:00.000Z', ['06', '07']],
  ])(
    'is open from five minutes before it begins, for clocks that are ahead, until 20 minutes after its end: at %s',
    (now, hours) => {
      expect(openHours(Date.parse(now))).toEqual(hours.map((hour) => `dt=2026-03-04/hour=${hour}/`));
    },
  );
});
