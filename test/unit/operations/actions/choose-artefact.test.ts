import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { chooseArtefact } from '../../../../src/operations/actions/choose-artefact.js';
import { eraseJob } from '../../../../src/operations/actions/erase/erase-job.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { openStore } from '../../../../src/store/open-store.js';
import {
  archiveOver,
  commit,
  context,
  keysOf,
  MEDIA,
  putItem,
  randomContent,
  readAll,
  TRANSCRIPT,
} from '../../../support/store/archive-fixture.js';
import { interruptedStore } from '../../../support/store/interrupted-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const PART = 64 * 1024;

async function emptyPlace() {
  const folder = await temporaryFolder();
  const store = await openStore({ url: `file:${folder.path}`, partSize: PART, fsync: false });
  return { store, path: folder.path, dispose: () => folder.remove() };
}

const TEXT = 'jobs/job1/transcript.json';
const FIRST = Buffer.from('{"first":1}');
const SECOND = Buffer.from('{"second":2}');
const THIRD = Buffer.from('{"third":3}');
const sha = (bytes: Buffer) => hash('sha256', bytes);
const WHOLE = { since: null, until: null, missing: [] };
const conflictOf = (bytes: Buffer) => `jobs/job1/conflicts/transcript.json.${sha(bytes)}`;

describe('choosing a version', () => {
  let place: Awaited<ReturnType<typeof emptyPlace>>;
  let lines: LedgerLine[];

  beforeEach(async () => {
    place = await emptyPlace();
    lines = [];
    for (const bytes of [FIRST, SECOND, THIRD]) await deliver(bytes);
  });
  afterEach(async () => {
    await place.store.close();
    await place.dispose();
  });

  async function deliver(bytes: Buffer, identity = TRANSCRIPT) {
    const facts = context({ context: { call: '7' } });
    const delivery = archiveOver(place.store).archive.begin(facts);
    await putItem(delivery, identity, bytes);
    return commit(delivery);
  }

  function choose(key: string, store: ObjectStore = place.store, reason = 'it is right') {
    const ledger = { append: async (line: LedgerLine) => void lines.push(line) };
    const sources = new Map([['default', { context: ['call'] }]]);
    const view = { deliveries: async () => ({ deliveries: [], nextCursor: null, index: WHOLE }) };
    const parts = { store, ledger, sources, keyPrefixes: [''], view, fresh: async () => {} };
    return chooseArtefact(parts, 'job1', { key, actor: 'ops', reason, scope: null });
  }

  const hashAt = async (key: string) => sha((await readAll(place.store, key)) ?? Buffer.alloc(0));
  const counting = () => readAll(place.store, TEXT);
  const versions = async () => (await keysOf(place.store, 'jobs/job1/conflicts/')).sort();

  it('replaces the artefact, keeps both versions, and records both hashes', async () => {
    const line = await choose(conflictOf(SECOND));
    expect(await counting()).toEqual(SECOND);
    expect(await versions()).toEqual([FIRST, SECOND, THIRD].map(conflictOf).sort());
    expect(await readAll(place.store, conflictOf(FIRST))).toEqual(FIRST);
    expect(lines).toEqual([line]);
    expect(line).toMatchObject({
      outcome: 'chosen',
      origin: 'replay',
      jobId: 'job1',
      source: 'default',
      region: 'eu1',
      status: 'success',
      actor: 'ops',
      reason: 'it is right',
      context: { call: '7' },
      items: [
        { key: TEXT, sha256: sha(SECOND), outcome: 'created' },
        { key: conflictOf(FIRST), sha256: sha(FIRST), size: FIRST.length, outcome: 'conflict' },
      ],
    });
    expect((await place.store.head(TEXT))?.metadata).toMatchObject({
      'job-id': 'job1',
      kind: 'transcript.json-v2',
      sha256: sha(SECOND),
      replaced: sha(FIRST),
    });
    expect(await keysOf(place.store, '.conflicts/jobs/job1/choices/')).toEqual([]);
  });

  it('goes back and forth, and takes repeated callbacks for identical', async () => {
    for (const bytes of [SECOND, FIRST, THIRD]) {
      await choose(conflictOf(bytes));
      expect(await counting()).toEqual(bytes);
    }
    expect(await versions()).toHaveLength(3);
    for (const bytes of [FIRST, SECOND, THIRD])
      expect(await deliver(bytes)).toMatchObject([{ outcome: 'identical' }]);
    expect(await versions()).toHaveLength(3);
  });

  it('takes each of several large versions that came in one delivery', async () => {
    const delivery = archiveOver(place.store).archive.begin(context());
    for (const size of [2, 3, 4]) await putItem(delivery, MEDIA, randomContent(size * PART));
    const [first, ...others] = (await commit(delivery)) ?? [];
    expect(others.at(-1)?.key).toMatch(/-2$/);
    for (const { key, sha256 } of others) {
      await choose(key);
      expect(await hashAt(first?.key ?? '')).toBe(sha256);
    }
  });

  it('puts the right bytes in the place of a damaged artefact, whose metadata still has their hash', async () => {
    const damaged = Buffer.from('{"fir5t":1}');
    await writeFile(join(place.path, TEXT), damaged);
    expect(await deliver(FIRST)).toMatchObject([{ key: conflictOf(FIRST), outcome: 'conflict' }]);
    const line = await choose(conflictOf(FIRST));
    expect(await counting()).toEqual(FIRST);
    expect(await readAll(place.store, conflictOf(damaged))).toEqual(damaged);
    expect(line.items.map(({ sha256 }) => sha256)).toEqual([sha(FIRST), sha(damaged)]);
  });

  it('chooses the version that counts already: only the ledger says so', async () => {
    const line = await choose(TEXT);
    expect(await counting()).toEqual(FIRST);
    expect(await versions()).toHaveLength(2);
    expect(line.items).toEqual([
      expect.objectContaining({ key: TEXT, sha256: sha(FIRST), outcome: 'identical' }),
    ]);
  });

  it('chooses media that was streamed, whose hash is not in its name', async () => {
    const first = randomContent(PART + 5);
    const second = randomContent(2 * PART + 7);
    await deliver(first, MEDIA);
    const [kept] = await deliver(second, MEDIA);
    await choose(kept?.key ?? '');
    expect(await hashAt('jobs/job1/data')).toBe(sha(second));
    expect(await hashAt(`jobs/job1/conflicts/data.${sha(first)}`)).toBe(sha(first));
    await choose(`jobs/job1/conflicts/data.${sha(first)}`);
    expect((await keysOf(place.store, 'jobs/job1/conflicts/data.')).sort()).toEqual(
      [kept?.key, `jobs/job1/conflicts/data.${sha(first)}`].sort(),
    );
  });

  it.each([
    ['another job', 'jobs/job2/transcript.json'],
    ['no version', 'jobs/job1/conflicts/transcript.json.0'],
    ['no artefact', 'jobs/job1/jobinfo.json'],
    ['no key', '../x'],
  ])('refuses the key of %s', async (_what, key) => {
    await expect(choose(key)).rejects.toMatchObject({ code: 'not-found' });
    expect(await counting()).toEqual(FIRST);
    expect(lines).toEqual([]);
  });

  it('loses nothing when it dies before any step, and goes on when it is repeated', async () => {
    for (let died = true, step = 0; died; step += 1) {
      lines = [];
      const target = step % 2 === 0 ? SECOND : FIRST;
      const other = step % 2 === 0 ? FIRST : SECOND;
      let calls = 0;
      const dying = interruptedStore(place.store, async () => {
        calls += 1;
        if (calls > step) throw new StoreError('call', 'killed');
      });
      died = await choose(conflictOf(target), dying).then(
        () => false,
        () => true,
      );
      // Whatever counts now, both versions are there.
      const there = [TEXT, ...(await versions())].map((key) => readAll(place.store, key));
      expect(await Promise.all(there)).toEqual(expect.arrayContaining([FIRST, SECOND, THIRD]));
      await choose(conflictOf(target));
      expect(await counting()).toEqual(target);
      const last = lines.at(-1);
      expect(last?.items[0]).toMatchObject({ key: TEXT, sha256: sha(target) });
      expect(last?.items[1]).toMatchObject({ sha256: sha(other) });
    }
  });

  it('says of a store that fails that it failed, and not that the artefact changed', async () => {
    const failing: ObjectStore = {
      ...place.store,
      async head(key) {
        const info = await place.store.head(key);
        if (key === conflictOf(FIRST) && info !== null) throw new StoreError('head', 'no answer');
        return info;
      },
    };
    await expect(choose(conflictOf(SECOND), failing)).rejects.toBeInstanceOf(StoreError);
    expect(await counting()).toEqual(FIRST);
    await choose(conflictOf(SECOND));
    expect(await counting()).toEqual(SECOND);
  });

  it('lets one of two operators win, and the ledger says which', async () => {
    for (let round = 0; round < 5; round += 1) {
      lines = [];
      const chosen = [SECOND, THIRD];
      const results = await Promise.allSettled(chosen.map((bytes) => choose(conflictOf(bytes))));
      const won = results.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
      expect(won.length).toBeGreaterThanOrEqual(1);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
      expect(lines.at(-1)?.items[0]?.sha256).toBe(sha((await counting()) ?? FIRST));
      await choose(conflictOf(FIRST));
    }
  });

  it('keeps out another version while one is being chosen, also on a store that compares and replaces in two steps', async () => {
    let meanwhile: unknown = null;
    const slow = interruptedStore(place.store, async () => {
      if ((await keysOf(place.store, '.conflicts/jobs/job1/choices/')).length > 0)
        meanwhile ??= await choose(conflictOf(THIRD)).catch((error: unknown) => error);
    });
    await choose(conflictOf(SECOND), slow);
    expect(meanwhile).toMatchObject({ code: 'conflict', message: expect.stringMatching(/Another operator/) });
    expect(await counting()).toEqual(SECOND);
  });

  it('takes a callback with further bytes meanwhile', async () => {
    const fourth = Buffer.from('{"fourth":4}');
    let calls = 0;
    const slow = interruptedStore(place.store, async () => {
      calls += 1;
      if (calls === 6) await deliver(fourth);
    });
    await choose(conflictOf(SECOND), slow);
    expect(await counting()).toEqual(SECOND);
    expect(await readAll(place.store, conflictOf(fourth))).toEqual(fourth);
  });

  it('leaves nothing of a job that is erased meanwhile, at any step', async () => {
    for (let step = 1, ended = false; !ended; step += 1) {
      let calls = 0;
      const slow = interruptedStore(place.store, async () => {
        calls += 1;
        if (calls === step) await erase();
      });
      ended = await choose(conflictOf(SECOND), slow).then(
        () => true,
        () => false,
      );
      expect(await keysOf(place.store, 'jobs/job1/')).toHaveLength(ended && calls < step ? 4 : 0);
      await place.store.delete('.erasures/job1.json');
      if (!ended) for (const bytes of [FIRST, SECOND, THIRD]) await deliver(bytes);
    }
  });

  async function erase(): Promise<void> {
    const ledger = { append: async () => undefined };
    await eraseJob({ store: place.store, keyPrefixes: [''], ledger, sleep: async () => undefined }, 'job1', {
      actor: 'ops',
      reason: null,
    });
  }
});
