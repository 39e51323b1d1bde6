import { expect, it } from '@jest/globals';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { createLogFollower } from '../../../../src/ledger/log/follow-log.js';
import { type HourPosition, hourPosition, markRead } from '../../../../src/ledger/log/hour-position.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import type { ObjectStore } from '../../../../src/store/object-store.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const follow = (store: ObjectStore, clock: () => number, hours = new Map<string, HourPosition>()) =>
  createLogFollower({ store, clock, hours, onLost: () => undefined, onUnlisted: () => undefined });

it('lists an hour of many segments once a minute, and before that when it is told to', async () => {
  const now = Date.UTC(2026, 10, 2, 10, 30);
  const hour = hourAt(Math.floor(now / HOUR) * HOUR);
  const store = createMemoryStore(undefined, () => now);
  const hours = new Map([[hour, hourPosition(hour, { known: 600 })]]);
  const log = follow(store, () => now, hours);
  const writers = async () => {
    const found: string[] = [];
    for await (const { position, writer, number } of log.newSegments()) {
      markRead(position, { writer, number });
      found.push(writer);
    }
    return found;
  };
  expect(await writers()).toEqual([]);
  store.put(segmentKey({ hour, writer: 'command', number: 1 }), '', now);
  expect(await writers()).toEqual([]);
  log.relist();
  expect(await writers()).toEqual(['command']);
  expect(log.listedAt()).toBe(now);
});

it('takes what a replica wrote to the next hour whose clock is ahead of the store', async () => {
  const now = Date.UTC(2026, 10, 2, 10, 58);
  const store = createMemoryStore(undefined, () => now);
  const log = follow(store, () => now);
  store.put(segmentKey({ hour: hourAt(now + HOUR), writer: 'ahead', number: 1 }), '', now);
  const found = await Array.fromAsync(log.newSegments(), ({ writer }) => writer);
  expect(found).toEqual(['ahead']);
});

it('takes what was written just before the clock was set back, and follows that hour until it is whole', async () => {
  const early = Date.UTC(2026, 10, 2, 10, 20);
  let now = early + HOUR;
  const store = createMemoryStore(undefined, () => now);
  const log = follow(store, () => now);
  const take = () =>
    Array.fromAsync(log.newSegments(), ({ position, writer, number }) => {
      markRead(position, { writer, number });
      return `${writer} ${number}`;
    });
  const ahead = hourAt(now);
  store.put(segmentKey({ hour: ahead, writer: 'a', number: 1 }), '', now);
  expect(await take()).toEqual(['a 1']);
  store.put(segmentKey({ hour: ahead, writer: 'a', number: 2 }), '', now);
  now = early;
  store.put(segmentKey({ hour: hourAt(now), writer: 'b', number: 1 }), '', now);
  expect(await take()).toEqual(['b 1', 'a 2']);
  now = early + 2 * HOUR;
  store.put(segmentKey({ hour: ahead, writer: 'a', number: 3 }), '', now);
  expect(await take()).toEqual([]);
});
