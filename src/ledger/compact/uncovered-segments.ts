import type { ObjectStore } from '../../store/object-store.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { isSegmentKey } from '../ledger-reader.js';
import type { CompactionPlan } from './compaction-plan.js';

/** Their names make a rollup of a megabyte. */
const FILE_SEGMENTS = 20_000;

/** The segments of an hour that no file and no plan covers. Lists as far as it is asked, and holds what a file takes. */
export interface UncoveredSegments {
  /** Leaves out what a file or a plan covers, listed or not. */
  cover(covering: CompactionPlan): void;
  /** Whether no segment is left. */
  isEmpty(): Promise<boolean>;
  /** Names of the first segments, up to a size of all of them, and at least one. Empty when none is left. */
  first(maxBytes: number): Promise<string[]>;
}

/** @param startAfter lists only the segments whose names follow this one */
export function listUncovered(store: ObjectStore, hour: string, startAfter?: string): UncoveredSegments {
  const folder = `${LEDGER_FOLDER}${hour}`;
  const listing = store
    .list(folder, startAfter === undefined ? undefined : { startAfter: folder + startAfter })
    [Symbol.asyncIterator]();
  /** Sizes by name, in the order of the listing. */
  const held = new Map<string, number>();
  let heldBytes = 0;
  let isListed = false;
  /** Covered, and not listed so far. */
  const covered = new Set<string>();
  const noted = new Set<number>();

  async function hold(maxBytes: number, maxSegments: number): Promise<void> {
    while (!isListed && heldBytes <= maxBytes && held.size <= maxSegments) {
      const { done, value } = await listing.next();
      if (done) {
        isListed = true;
      } else if (isSegmentKey(value.key)) {
        const name = value.key.slice(folder.length);
        if (covered.delete(name)) continue;
        held.set(name, value.size);
        heldBytes += value.size;
      }
    }
  }

  return {
    cover({ n, segments }) {
      // A plan becomes a file of the same number and segments.
      if (noted.has(n)) return;
      noted.add(n);
      for (const name of segments) {
        const size = held.get(name);
        if (size === undefined) {
          if (!isListed) covered.add(name);
        } else {
          held.delete(name);
          heldBytes -= size;
        }
      }
    },
    async isEmpty() {
      await hold(0, 0);
      return held.size === 0;
    },
    async first(maxBytes) {
      await hold(maxBytes, FILE_SEGMENTS);
      const names: string[] = [];
      let bytes = 0;
      for (const [name, size] of held) {
        if (names.length > 0 && (bytes + size > maxBytes || names.length === FILE_SEGMENTS)) break;
        names.push(name);
        bytes += size;
      }
      return names;
    },
  };
}
