import pLimit from 'p-limit';

/** A body in a listing, as far as the search needs it. */
interface ListedBody {
  readonly id: string;
  readonly state: string;
}

/** Finds the waiting bodies that brought nothing which the archive lacks. */
export interface StoredBodies {
  /** The ids among the waiting bodies of `listed`, which is the whole quarantine. */
  among(listed: readonly ListedBody[]): Promise<ReadonlySet<string>>;
}

/** Listings come every few seconds while a dashboard is open: beyond this rate the last result counts. */
const CHECKS_PER_SECOND = 50;
const CHECKS_AT_ONCE = 16;

/**
 * @param isStored whether the archive holds what a body should have brought
 * @param clock milliseconds since the epoch
 */
export function createStoredBodies(
  isStored: (id: string) => Promise<boolean>,
  clock: () => number = Date.now,
): StoredBodies {
  // What was stored once stays settled, also when it ends by its age.
  let stored: ReadonlySet<string> = new Set();
  let nextAt = 0;
  return {
    async among(listed) {
      const waiting = listed.flatMap(({ id, state }) => (state === 'waiting' ? [id] : []));
      const known = waiting.filter((id) => stored.has(id));
      const open = waiting.filter((id) => !stored.has(id));
      if (clock() < nextAt) return stored;
      const limit = pLimit(CHECKS_AT_ONCE);
      const checked = await Promise.all(
        open.map((id) => limit(async () => ((await isStored(id)) ? [id] : []))),
      );
      nextAt = clock() + (open.length * 1000) / CHECKS_PER_SECOND;
      stored = new Set([...known, ...checked.flat()]);
      return stored;
    },
  };
}
