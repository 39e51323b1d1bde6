import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { raceProcesses } from '../support/processes/race-processes.js';
import type { StoreUnderTest } from './object-store.js';

/** Not for the stand-in, which is one process whoever writes. */
export function itKeepsProcessesApart(name: string, open: () => Promise<StoreUnderTest>): void {
  it(`${name} lets exactly one of two processes win each key`, async () => {
    const place = await open();
    const keys = Array.from({ length: 20 }, (_, n) => `create/processes/${n % 4}/${n}`);
    const names = ['one', 'two'];
    const results = await raceProcesses(place.options, keys, names);
    const store = await openStore(place.options);
    for (const [index, key] of keys.entries()) {
      const winners = names.filter((_, racer) => results[racer]?.[index] === 'created');
      expect(winners).toHaveLength(1);
      const found = await store.read(key);
      expect(found && (await text(found.body))).toBe(`${winners[0]} wrote ${key}`);
      expect(found?.info.metadata).toEqual({ writer: winners[0] });
    }
    await store.close();
    await place.dispose();
  });
}
