import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { IndexCalls } from '../../../../src/index/index-calls.js';
import {
  type FillRequest,
  requestFill,
  serveFillRequests,
} from '../../../../src/index/shared/fill-requests.js';
import { createSharedFiller } from '../../../../src/index/shared/shared-filler.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { withUnlistable } from '../../../support/store/unlistable-folders.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';

const ALIVE = { timeout: Number.POSITIVE_INFINITY, isWriterAlive: async () => true };

describe('requests to the writer of an index', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let path: string;
  const requests = () => readdirSync(`${path}-asks`);

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, 'index.sqlite');
  });
  afterEach(() => folder.remove());

  it('are done each, and leave nothing', async () => {
    const done: string[] = [];
    const writer = serveFillRequests(path, async (request) => void done.push(request));
    await Promise.all([
      requestFill(path, 'new', ALIVE),
      requestFill(path, 'whole', ALIVE),
      requestFill(path, 'new', ALIVE),
    ]);
    writer.stop();
    expect(done.sort()).toEqual(['new', 'new', 'whole']);
    expect(requests()).toEqual([]);
  });

  it('fail when the writer could not do them, which takes no room on the disk', async () => {
    const writer = serveFillRequests(path, () => Promise.reject(new Error('database or disk is full')));
    expect(await requestFill(path, 'new', ALIVE)).toBe('failed');
    writer.stop();
    expect(requests()).toEqual([]);
  });

  it.each([
    ['its index', [], { name: 'IndexError', isLost: false }],
    ['the store', ['ledger/'], { name: 'StoreError', condition: 'denied' }],
  ])('that fail are a fault of %s', async (_, denied, expected) => {
    const writer = serveFillRequests(path, () => Promise.reject(new Error('for whatever reason')));
    const store = withUnlistable(createMemoryStore(), () => denied);
    const index = { call: async () => true } as unknown as IndexCalls;
    await expect(createSharedFiller(path, index, store).addNew()).rejects.toMatchObject(expected);
    writer.stop();
  });

  it('end without an answer when the writer does not give one in time, and when it has ended', async () => {
    const writer = serveFillRequests(path, () => new Promise(() => undefined));
    const endOf = (of: string, request: FillRequest, options = ALIVE) =>
      requestFill(of, request, options).catch(({ isLost, message }) => [isLost, message]);
    const lost = (what: string) => [true, `the process that writes the index ${what}`];
    expect(await endOf(path, 'new', { ...ALIVE, timeout: 0 })).toEqual(lost('does not answer'));
    const gone = { ...ALIVE, isWriterAlive: async () => false };
    expect(await endOf(path, 'whole', gone)).toEqual(lost('has ended'));
    writer.stop();
    expect(requests()).toEqual([]);
    expect(await endOf(join(folder.path, 'other'), 'new')).toEqual(lost('takes no questions'));
  });

  it('get no answer from a writer that is being stopped', async () => {
    const { promise: closing, reject: close } = Promise.withResolvers<void>();
    const { promise: asked, resolve: begin } = Promise.withResolvers<void>();
    let isWriterAlive = true;
    const writer = serveFillRequests(path, () => {
      begin();
      return closing;
    });
    const answer = requestFill(path, 'new', { ...ALIVE, isWriterAlive: async () => isWriterAlive });
    await asked;
    writer.stop();
    close(new Error('database is not open'));
    isWriterAlive = false;
    await expect(answer).rejects.toMatchObject({ isLost: true });
  });

  it('that an earlier writer left behind are removed', async () => {
    mkdirSync(`${path}-asks`);
    for (const name of ['new-a', 'whole-b']) writeFileSync(join(`${path}-asks`, name), '');
    serveFillRequests(path, async () => undefined).stop();
    await until(async () => requests().length === 0);
  });
});
