import type { ObjectStore } from '../store/object-store.js';
import { readDocument } from '../store/read-document.js';
import type { RefusalCount } from './count-refusals.js';
import { REFUSAL_COUNTS_FOLDER } from './layout.js';

/** Counts of one day in UTC, of all replicas. */
interface DailyRefusals extends RefusalCount {
  /** `YYYY-MM-DD`. */
  readonly day: string;
}

export interface RefusalCounts {
  /** Newest day first, then by number. */
  readonly counts: readonly DailyRefusals[];
  /** Whether all objects of these days were read. */
  readonly complete: boolean;
}

/** Objects of each run and day; a process that restarts in a loop leaves many. */
const MAX_OBJECTS = 500;
const MAX_BYTES = 1024 * 1024;

/** Milliseconds for which a result holds: all readers share it. */
const HOLDS_FOR = 30_000;

/** Reads what all replicas counted since the beginning of yesterday in UTC, the newest objects first. */
export function createRefusalCountsReader(
  store: Pick<ObjectStore, 'list' | 'read'>,
  clock: () => number,
): () => Promise<RefusalCounts> {
  let last: { readonly at: number; readonly counts: Promise<RefusalCounts> } | null = null;
  return () => {
    const now = clock();
    if (last === null || now - last.at >= HOLDS_FOR || now < last.at)
      last = { at: now, counts: read(store, now) };
    const { counts } = last;
    // Read again after a failure.
    counts.catch(() => {
      if (last?.counts === counts) last = null;
    });
    return counts;
  };
}

async function read(store: Pick<ObjectStore, 'list' | 'read'>, now: number): Promise<RefusalCounts> {
  const yesterday = new Date(now - 24 * 3_600_000).toISOString().slice(0, 10);
  const keys: string[] = [];
  const options = { startAfter: `${REFUSAL_COUNTS_FOLDER}${yesterday}/` };
  for await (const { key } of store.list(REFUSAL_COUNTS_FOLDER, options)) {
    keys.push(key);
    if (keys.length > MAX_OBJECTS) keys.shift();
  }
  const sums = new Map<string, DailyRefusals>();
  let unreadable = 0;
  for (const key of keys) {
    const counts = countsOf(await readDocument(store, key, MAX_BYTES));
    if (counts === null) unreadable += 1;
    const day = key.slice(REFUSAL_COUNTS_FOLDER.length).slice(0, 10);
    for (const count of counts ?? []) add(sums, { day, ...count });
  }
  const counts = [...sums.values()].sort((a, b) =>
    a.day === b.day ? b.count - a.count : a.day < b.day ? 1 : -1,
  );
  return { counts, complete: unreadable === 0 && keys.length < MAX_OBJECTS };
}

function add(sums: Map<string, DailyRefusals>, more: DailyRefusals): void {
  const name = JSON.stringify([more.day, more.source, more.reason]);
  const sum = sums.get(name);
  if (sum === undefined) return void sums.set(name, more);
  const first = sum.first < more.first ? sum.first : more.first;
  const last = sum.last > more.last ? sum.last : more.last;
  sums.set(name, { ...sum, count: sum.count + more.count, first, last });
}

/** Null for a document that is none of ours. */
function countsOf(document: Record<string, unknown> | null): RefusalCount[] | null {
  const counts = document?.counts;
  return Array.isArray(counts) && counts.every(isCount) ? counts : null;
}

function isCount(value: unknown): value is RefusalCount {
  const { source, reason, count, first, last } = (value ?? {}) as Partial<
    Record<keyof RefusalCount, unknown>
  >;
  const areTexts = [source ?? '', reason, first, last].every((text) => typeof text === 'string');
  return areTexts && Number.isSafeInteger(count);
}
