import type { IndexFiller, IndexFillerOptions } from './index-filler.js';
import { IndexedHours } from './indexed-hours.js';
import { OlderHours } from './older-hours.js';

export function createIndexFiller(options: IndexFillerOptions): IndexFiller {
  const indexed = new IndexedHours(options);
  const older = new OlderHours(indexed, options);

  function invalidate(error: unknown): never {
    indexed.invalidate();
    throw error;
  }

  return {
    relist: () => indexed.relist(),
    addNew: () => indexed.addNew().catch(invalidate),
    async *addOlder() {
      try {
        yield* older.fill();
      } catch (error) {
        invalidate(error);
      }
    },
  };
}
