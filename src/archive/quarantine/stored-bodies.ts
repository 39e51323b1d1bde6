import pLimit from 'p-limit';

/** A body in a listing, as far as the search needs it. */
interface ListedBody {
  readonly id: string;
  readonly state: string;
}

/** Finds the waiting bodies that brought nothing which the archive lacks. */
export interface StoredBodies {
  /**
   * The ids among the waiting bodies of `listed`, which is the whole quarantine. Asks for at most `checks` bodies, the one
   * that was asked for longest ago first; of the others the last answer counts.
   */
  among(listed: readonly ListedBody[], checks: number): Promise<ReadonlySet<string>>;
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
  // What was stored once stays settled, also when it expires.
  let stored: ReadonlySet<string> = new Set();
  let round = 0;
  let lastRound = new Map<string, number>();
  let nextAt = 0;
  return {
    async among(listed, checks) {
      if (clock() < nextAt) return stored;
      const waiting = listed.flatMap(({ id, state }) => (state === 'waiting' ? [id] : []));
      const known = waiting.filter((id) => stored.has(id));
      const open = waiting.filter((id) => !stored.has(id));
      const rounds = new Map(open.map((id) => [id, lastRound.get(id) ?? -1]));
      const due = [...rounds].sort(([, a], [, b]) => a - b).slice(0, checks);
      const limit = pLimit(CHECKS_AT_ONCE);
      const found = await Promise.all(
        due.map(([id]) => limit(async () => ((await isStored(id)) ? [id] : []))),
      );
      round += 1;
      for (const [id] of due) rounds.set(id, round);
      lastRound = rounds;
      nextAt = clock() + (due.length * 1000) / CHECKS_PER_SECOND;
      stored = new Set([...known, ...found.flat()]);
      return stored;
    },
  };
}
