import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fillAll } from '../../src/index/fill/index-filler.js';
import { openIndexOfStore } from '../../src/index/fill/open-index-of-store.js';
import { hourAt } from '../../src/ledger/hours.js';
import { readMergedHour } from '../../src/ledger/log/merge-record.js';
import { segmentKey } from '../../src/ledger/segment-key.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import { writeHour } from '../support/ledger/file-ledger.js';
import { contentsOfLog } from '../support/ledger/log-contents.js';
import { mergeLedger } from '../support/ledger/merge-ledger.js';
import type { MergerOptions } from '../support/processes/merger.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MERGER = fileURLToPath(new URL('../support/processes/merger.ts', import.meta.url));
const TYPESCRIPT = new URL('../../scripts/run-typescript.mjs', import.meta.url).href;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Clocks ahead, so that the records are old enough for segments to be deleted. */
const AHEAD = 2 * HOUR;
const SEGMENTS = 150;
/** Some ten segments. */
const OBJECT_BYTES = 2_000;
const ROUNDS = 4;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let store: ObjectStore;
let hours: number[];

beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStore({ url: `file:${folder.path}`, fsync: false });
  const first = Math.floor(Date.now() / HOUR) * HOUR - 2 * DAY;
  hours = [first, first + HOUR, first + 2 * HOUR];
  for (const hour of hours) await writeHour(store, hour, { segments: SEGMENTS, lines: 3 });
});
afterEach(async () => {
  await store.close();
  await folder.remove();
});

/** Starts merging, and kills the process at a random moment. */
async function mergeAndDie(options: MergerOptions): Promise<void> {
  const child: ChildProcess = fork(MERGER, { execArgv: ['--import', TYPESCRIPT] });
  await once(child, 'message');
  child.send(options);
  await once(child, 'message');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** What an index has that is built from the log now. */
async function indexed() {
  const index = openIndexOfStore({
    ...{ store, filesFor: () => ({ path: null }), clock: Date.now },
    ...{ reach: 30 * DAY, retention: 7 * DAY, maxBytes: 2 ** 30 },
  });
  try {
    await fillAll(index);
    const places = await index.call('findLines', { limit: 10_000 });
    const { missing } = await index.call('state');
    return { places, missing, failing: await index.call('findFailures', {}) };
  } finally {
    await index.close();
  }
}

describe('processes that merge and are killed', () => {
  it('leave each segment in one record or in its file, with the content and the time that it had, and the same index', async () => {
    const written = await contentsOfLog(store);
    const before = await indexed();
    expect(before.places).toHaveLength(hours.length * SEGMENTS * 3);
    const options = { store: { url: `file:${folder.path}`, fsync: false }, objectBytes: OBJECT_BYTES };
    for (let round = 0; round < ROUNDS; round += 1) {
      const keepSegments = round < ROUNDS / 2 ? null : HOUR;
      await Promise.all(
        [1, 2, 3].map(() => mergeAndDie({ ...options, ahead: round < ROUNDS / 2 ? 0 : AHEAD, keepSegments })),
      );
      expect(await contentsOfLog(store)).toEqual(written);
    }
    const parts = { store, clock: () => Date.now() + 2 * DAY, objectBytes: OBJECT_BYTES };
    expect(await mergeLedger({ ...parts, keepSegments: HOUR })).toMatchObject({
      faults: [],
      oldestOpen: null,
    });
    const covered: string[] = [];
    for (const hour of hours.map(hourAt)) {
      const { records, unnamed } = await readMergedHour(store, hour);
      expect(unnamed).toEqual([]);
      covered.push(
        ...records.flatMap(({ segments }) => segments.map((each) => segmentKey({ ...each, hour }))),
      );
    }
    expect(covered.sort()).toEqual(written.segments.map(({ key }) => key));
    expect(await store.list('ledger/')[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
    expect(await contentsOfLog(store)).toEqual(written);
    expect(await indexed()).toEqual(before);
  });
});
