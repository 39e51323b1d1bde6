import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../src/domain/delivery.js';
import { compact } from '../../src/ledger/compact/compact.js';
import { readLines } from '../../src/ledger/read/log/read-lines.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import { listKeys, readCompactedLedger, sortedTexts } from '../support/ledger/compacted-ledger.js';
import { writeHour } from '../support/ledger/file-ledger.js';
import type { CompactorOptions } from '../support/processes/compactor.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const COMPACTOR = fileURLToPath(new URL('../support/processes/compactor.ts', import.meta.url));
const TYPESCRIPT = new URL('../../scripts/run-typescript.mjs', import.meta.url).href;
const DAY = 86_400_000;
const AHEAD = 2 * 3_600_000;
const HOURS = ['2026-03-02T22:00:00Z', '2026-03-02T23:00:00Z', '2026-03-03T00:00:00Z'];
/** Four segments. */
const FILE_BYTES = 14_000;
const ROUNDS = 4;

let folder: string;
let store: ObjectStore;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path: folder, remove } = await temporaryFolder());
  store = await openStore({ url: `file:${folder}`, fsync: false });
});
afterEach(async () => {
  await store.close();
  await remove();
});

/** Starts compacting, and kills the process at a random moment. */
async function compactAndDie(options: CompactorOptions): Promise<void> {
  const child: ChildProcess = fork(COMPACTOR, { execArgv: ['--import', TYPESCRIPT] });
  await once(child, 'message');
  child.send(options);
  await once(child, 'message');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const sum = (lines: readonly LedgerLine[], field: 'bytes') =>
  lines.reduce((total, line) => total + line[field], 0);

describe('processes that compact and are killed', () => {
  it('leave every line in one file, the right figures, and nothing else', async () => {
    const lines: LedgerLine[] = [];
    for (const hour of HOURS) {
      lines.push(...(await writeHour(store, Date.parse(hour), { segments: 24, lines: 10 })));
    }
    const options = { url: `file:${folder}`, fileBytes: FILE_BYTES, ahead: AHEAD };
    for (let round = 0; round < ROUNDS; round += 1) {
      const keepSegments = round < ROUNDS / 2 ? null : DAY;
      await Promise.all([1, 2, 3].map(() => compactAndDie({ ...options, keepSegments })));
      const seen: LedgerLine[] = [];
      for await (const line of readLines(store)) seen.push(line);
      expect(sortedTexts(seen)).toEqual(sortedTexts(lines));
    }

    const parts = {
      store,
      clock: () => Date.now() + AHEAD,
      keepSegments: DAY,
      planTimeout: 0,
    };
    expect(await compact(parts)).toMatchObject({ faults: [], inProgress: 0, oldestOpen: null });

    const compacted = await readCompactedLedger(store);
    expect(sortedTexts(compacted.lines)).toEqual(sortedTexts(lines));
    expect(new Set(compacted.covered).size).toBe(compacted.covered.length);
    expect(compacted.leftOver).toEqual([]);
    expect(await listKeys(store, 'ledger/')).toEqual([]);
    expect(compacted.rollups.size).toBeGreaterThan(HOURS.length);
    for (const rollups of [[...compacted.rollups.values()], [...compacted.daily.values()]]) {
      const groups = rollups.flatMap(({ slots }) => slots.flatMap((slot) => slot.groups));
      expect(groups.reduce((total, group) => total + group.lines, 0)).toBe(lines.length);
      expect(groups.reduce((total, group) => total + group.bytes, 0)).toBe(sum(lines, 'bytes'));
    }
  });
});
