import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Ask, answerAsks, askWriter } from '../../../../src/index/beside/asks.js';
import { createSharedFiller } from '../../../../src/index/beside/shared-filler.js';
import type { IndexCalls } from '../../../../src/index/index-calls.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { withUnlistable } from '../../../support/store/unlistable-folders.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';

const KEPT = { patience: Number.POSITIVE_INFINITY, isKept: async () => true };

describe('asks of the writer of an index', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let path: string;
  const asks = () => readdirSync(`${path}-asks`);

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, 'index.sqlite');
  });
  afterEach(() => folder.remove());

  it('are done each, and leave nothing', async () => {
    const done: string[] = [];
    const writer = answerAsks(path, async (ask) => void done.push(ask));
    await Promise.all([
      askWriter(path, 'new', KEPT),
      askWriter(path, 'whole', KEPT),
      askWriter(path, 'new', KEPT),
    ]);
    writer.stop();
    expect(done.sort()).toEqual(['new', 'new', 'whole']);
    expect(asks()).toEqual([]);
  });

  it('fail when the writer could not do them, which takes no room on the disk', async () => {
    const writer = answerAsks(path, () => Promise.reject(new Error('database or disk is full')));
    expect(await askWriter(path, 'new', KEPT)).toBe('failed');
    writer.stop();
    expect(asks()).toEqual([]);
  });

  it.each([
    ['its index', [], { name: 'IndexError', isLost: false }],
    ['the store', ['ledger/'], { name: 'StoreError', condition: 'denied' }],
  ])('that fail are a fault of %s', async (_, denied, expected) => {
    const writer = answerAsks(path, () => Promise.reject(new Error('for whatever reason')));
    const store = withUnlistable(createMemoryStore(), () => denied);
    const index = { call: async () => true } as unknown as IndexCalls;
    await expect(createSharedFiller(path, index, store).takeNew()).rejects.toMatchObject(expected);
    writer.stop();
  });

  it('end without an answer when the writer does not give one in time, and when it has ended', async () => {
    const writer = answerAsks(path, () => new Promise(() => undefined));
    const endOf = (of: string, ask: Ask, options = KEPT) =>
      askWriter(of, ask, options).catch(({ isLost, message }) => [isLost, message]);
    const lost = (what: string) => [true, `the process that writes the index ${what}`];
    expect(await endOf(path, 'new', { ...KEPT, patience: 0 })).toEqual(lost('does not answer'));
    const gone = { ...KEPT, isKept: async () => false };
    expect(await endOf(path, 'whole', gone)).toEqual(lost('has ended'));
    writer.stop();
    expect(asks()).toEqual([]);
    expect(await endOf(join(folder.path, 'other'), 'new')).toEqual(lost('takes no questions'));
  });

  it('get no answer from a writer that is being stopped', async () => {
    const { promise: closing, reject: close } = Promise.withResolvers<void>();
    const { promise: asked, resolve: begin } = Promise.withResolvers<void>();
    let isKept = true;
    const writer = answerAsks(path, () => {
      begin();
      return closing;
    });
    const answer = askWriter(path, 'new', { ...KEPT, isKept: async () => isKept });
    await asked;
    writer.stop();
    close(new Error('database is not open'));
    isKept = false;
    await expect(answer).rejects.toMatchObject({ isLost: true });
  });

  it('that an earlier writer left behind are removed', async () => {
    mkdirSync(`${path}-asks`);
    for (const name of ['new-a', 'whole-b']) writeFileSync(join(`${path}-asks`, name), '');
    answerAsks(path, async () => undefined).stop();
    await until(async () => asks().length === 0);
  });
});
