import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fillAll } from '../../src/index/fill/index-filler.js';
import { openIndexOfStore } from '../../src/index/fill/open-index-of-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { isOldWriter } from './old-hours.js';
import { SUBSCRIBER } from './subscriber.js';

const DAY = 86_400_000;

/** File of the index that a replica keeps over all its kills. */
export function indexPath(folder: string, replica: string): string {
  return join(folder, `${replica}.sqlite`);
}

/** What the indexes of replicas have otherwise than one that is built from the log now. */
export async function checkIndexes(
  store: ObjectStore,
  folder: string,
  replicas: readonly string[],
): Promise<string[]> {
  const expected = await answersOf(store, indexPath(folder, 'built'));
  const faults: string[] = [];
  for (const replica of replicas) {
    const found = await answersOf(store, indexPath(folder, replica), { again: true });
    for (const [question, answers] of Object.entries(expected))
      faults.push(...differences(`${replica}: ${question}`, answers, found[question] ?? new Set()));
  }
  return faults;
}

/** The same of the lines that were written before, for a replica that was just killed while the other one goes on. */
export async function checkKilledIndex(
  store: ObjectStore,
  folder: string,
  replica: string,
): Promise<string[]> {
  const before = Date.now() + store.clockOffset() - LISTED_AFTER;
  const killed = indexPath(folder, `${replica}-killed`);
  const built = indexPath(folder, `${replica}-built`);
  for (const path of [killed, built]) for (const end of FILES) await rm(path + end, { force: true });
  for (const end of FILES.slice(0, 2))
    await copyFile(indexPath(folder, replica) + end, killed + end).catch(ignoreMissing);
  const found = await answersOf(store, killed, { until: before, again: true });
  const expected = await answersOf(store, built, { until: before });
  console.log(`compared ${expected.lines?.size} lines of the index of ${replica}`);
  return ['lines', 'missing'].flatMap((question) =>
    differences(
      `${replica}, killed: ${question}`,
      expected[question] ?? new Set(),
      found[question] ?? new Set(),
    ),
  );
}

const FILES = ['', '-wal', '-shm'];
/** Milliseconds: times of objects can be in whole seconds. */
const LISTED_AFTER = 2_000;

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function differences(name: string, expected: ReadonlySet<string>, found: ReadonlySet<string>): string[] {
  const lacks = [...expected].filter((each) => !found.has(each));
  const more = [...found].filter((each) => !expected.has(each));
  return [
    ...lacks.slice(0, 5).map((each) => `${name}: ${lacks.length} lost, such as ${each}`),
    ...more.slice(0, 5).map((each) => `${name}: ${more.length} too many, such as ${each}`),
  ];
}

interface Asked {
  /** Milliseconds since the epoch. */
  readonly until?: number;
  /**
   * Whether the index looks for what appeared in whole hours, as one does once a day: a write during which the clock is set to another time
   * is refused, and its segment stays in the hour of that time. And for what was missing, as one does after a minute: a folder that could
   * not be listed is, until then.
   */
  readonly again?: boolean;
}

async function answersOf(
  store: ObjectStore,
  path: string,
  { until, again = false }: Asked = {},
): Promise<Record<string, ReadonlySet<string>>> {
  const index = openIndexOfStore({
    store,
    filesFor: () => ({ path }),
    clock: Date.now,
    reach: 30 * DAY,
    retention: 7 * DAY,
    maxBytes: 2 ** 31,
  });
  try {
    if (again) await index.call('saveRange', { relistedAt: 0, retriedAt: 0 });
    await fillAll(index);
    const places = await index.call('findLines', { limit: 10_000_000, until });
    const { missing } = await index.call('state');
    // Hours that were laid down long after they were whole are not in a running index.
    const lines = places.filter(({ writer }) => !isOldWriter(writer)).map((each) => JSON.stringify(each));
    const failures = await index.call('findFailures', {});
    const bodies = await index.call('findBodies', { limit: 1_000_000 });
    const events = await index.call('findEvents', { subscriber: SUBSCRIBER, limit: 1_000_000 });
    if (new Set(lines).size < lines.length) lines.push(`${lines.length - new Set(lines).size} lines twice`);
    return {
      lines: new Set(lines),
      failures: new Set(failures.map((each) => JSON.stringify(each))),
      bodies: new Set(bodies.map((each) => JSON.stringify(each))),
      events: new Set(events.map((each) => JSON.stringify(each))),
      missing: new Set(missing.map((each) => JSON.stringify(each))),
    };
  } finally {
    await index.close();
  }
}
