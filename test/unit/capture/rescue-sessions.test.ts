import { copyFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createArchive } from '../../../src/archive/archive.js';
import { erasureKey } from '../../../src/archive/layout.js';
import { ownerName } from '../../../src/capture/journal-owner.js';
import { findJournals, rescueSessions } from '../../../src/capture/rescue-sessions.js';
import { journalLine } from '../../../src/capture/session-journal.js';
import type { SessionHead } from '../../../src/capture/session-transcripts.js';
import { readLedger } from '../../../src/ledger/ledger-reader.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import { createBufferPool } from '../../../src/memory/buffer-pool.js';
import { createByteBudget } from '../../../src/memory/byte-budget.js';
import { StoreError } from '../../../src/store/object-store.js';
import { type BeforeCall, createMemoryStore } from '../../support/store/memory-store.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const [MACHINE] = ownerName().split('-');
/** Linux has no process ids beyond 4194304. */
const DEAD = `${MACHINE}-4194305-1`;
const ELSEWHERE = '0123456789ab-1-0';
const HEAD: SessionHead = {
  v: 1,
  store: 'memory:',
  context: {
    deliveryId: '01JZZZZZZZZZZZZZZZZZZZZZZZ',
    jobId: 'session-1',
    source: 'default',
    region: 'eu1',
    origin: 'realtime',
    receivedAt: '2026-01-02T03:04:05.678Z',
    keyPrefix: '',
  },
  service: 'realtime',
  region: 'eu1',
  transcriptionConfig: { language: 'en' },
  dataName: '',
};
const tally = { frames: 2, bytes: 64_000, seconds: 2 };
const SEGMENT = { kind: 'final', start: 0, end: 1, text: 'Hello. ', speaker: null, results: [] } as const;
const JOURNAL =
  journalLine({ head: HEAD }) + journalLine({ segment: SEGMENT, sent: tally, acknowledged: tally });

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let place: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  place = join(folder.path, 'captures');
  await mkdir(place);
});
afterEach(() => folder.remove());

/** As the operating system tells it: the 22nd field. */
async function beginOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

const leave = (content: string, owner = DEAD): Promise<void> =>
  writeFile(join(place, `${HEAD.context.deliveryId}.${owner}.ndjson`), content);

function rescuer(before: BeforeCall = () => undefined) {
  const store = createMemoryStore(before);
  const ledger = createLedger({ store, replica: 'test' });
  const budget = createByteBudget({ total: 8 * store.partSize, reserve: store.partSize });
  const archive = createArchive({
    store,
    budget,
    pool: createBufferPool({ largest: store.partSize, retain: 0 }),
  });
  const left: string[] = [];
  const observer = {
    onFound: () => {},
    onArchived: () => {},
    onLeft: (_path: string, reason: string) => void left.push(reason),
  };
  const parts = { store, archive, ledger, pauseMs: 0, location: 'memory:', folder: place, observer };
  return {
    store,
    left,
    run: async () => rescueSessions(parts, await findJournals(parts)),
    jobs: () => [...store.objects.keys()].filter((key) => key.startsWith('jobs/')),
    lines: async () => {
      const lines = [];
      for await (const line of readLedger(store)) lines.push(line);
      return lines;
    },
  };
}

describe('a journal of a dead process', () => {
  it('is archived as far as it is complete, then removed', async () => {
    await leave(`${JOURNAL}{"segment":{"ki`);
    const { run, jobs, lines, store } = rescuer();
    await run();
    expect(jobs().sort()).toEqual(['json', 'srt', 'txt'].map((type) => `jobs/session-1/transcript.${type}`));
    expect(String(store.objects.get('jobs/session-1/transcript.txt')?.body)).toBe('Hello.\n');
    expect(await lines()).toMatchObject([{ status: 'incomplete', reason: 'process-ended', bytes: 64_000 }]);
    expect(await readdir(place)).toEqual([]);
  });

  it('stays when the store fails, and makes the same bytes and one line at the next attempt', async () => {
    let down = true;
    const { run, jobs, lines, left } = rescuer((operation, key) => {
      if (down && operation === 'create' && key.startsWith('ledger/')) throw new StoreError('create', 'down');
    });
    await leave(JOURNAL);
    await run();
    expect(left).toEqual([expect.stringContaining('down')]);
    const [name = ''] = await readdir(place);
    // The next attempt finds a file of another age: the result must not depend on it.
    await utimes(join(place, name), 1, 1);
    down = false;
    await run();
    expect(jobs()).toHaveLength(3);
    expect((await lines()).map(({ outcome }) => outcome)).toEqual(['stored']);
    expect(await readdir(place)).toEqual([]);
  });

  it('leaves no second line when it was recorded before, and only its removal failed', async () => {
    const down: BeforeCall = (operation, key) => {
      if (first && operation === 'create' && key.startsWith('ledger/'))
        throw new StoreError('create', 'down');
    };
    let first = true;
    const { run, lines } = rescuer(down);
    await leave(JOURNAL);
    await run();
    first = false;
    const [name = ''] = await readdir(place);
    await copyFile(join(place, name), join(folder.path, 'copy'));
    await run();
    await copyFile(join(folder.path, 'copy'), join(place, name));
    await run();
    expect(await lines()).toHaveLength(1);
    expect(await readdir(place)).toEqual([]);
  });

  it('is removed, not archived, when the job was erased', async () => {
    await leave(JOURNAL);
    const { run, jobs, store } = rescuer();
    store.put(erasureKey('session-1'), '{}');
    await run();
    expect([jobs(), await readdir(place)]).toEqual([[], []]);
  });

  it('leaves nothing behind when the job is erased while it is being archived', async () => {
    await leave(JOURNAL);
    const { run, jobs, lines, store } = rescuer((operation, key) => {
      if (operation === 'create' && key.startsWith('jobs/')) store.put(erasureKey('session-1'), '{}');
    });
    await run();
    expect([jobs(), await lines(), await readdir(place)]).toEqual([[], [], []]);
  });

  it('is left alone when it is meant for another store', async () => {
    await leave(JOURNAL.replace('memory:', 's3://other/'));
    const { run, jobs, left } = rescuer();
    await run();
    expect([jobs(), left]).toEqual([[], ['it belongs to the store s3://other/']]);
    expect(await readdir(place)).toHaveLength(1);
  });

  it('is removed when it was cut within its head: nothing was final', async () => {
    await leave(JOURNAL.slice(0, 50));
    const { run, left } = rescuer();
    await run();
    expect([left, await readdir(place)]).toEqual([[], []]);
  });
});

describe('a journal of a process that may run', () => {
  it.each([
    ['of this machine', `${MACHINE}-${process.ppid}-begin`],
    ['of another machine that gave a sign of life', ELSEWHERE],
  ])('%s is left alone', async (_which, owner) => {
    await leave(JOURNAL, owner.replace('begin', await beginOf(process.ppid)));
    const { run, jobs } = rescuer();
    await run();
    expect(jobs()).toEqual([]);
    expect(await readdir(place)).toHaveLength(1);
  });

  it('is archived when the other machine has been silent for minutes', async () => {
    await leave(JOURNAL, ELSEWHERE);
    const path = join(place, `${HEAD.context.deliveryId}.${ELSEWHERE}.ndjson`);
    const before = new Date(Date.now() - 300_000);
    await utimes(path, before, before);
    const { run, jobs } = rescuer();
    await run();
    expect(jobs()).toHaveLength(3);
  });
});
