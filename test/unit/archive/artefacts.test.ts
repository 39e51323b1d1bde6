import { describe, expect, it } from '@jest/globals';
import { describeArtefact, listJobObjects, readArtefacts } from '../../../src/archive/artefacts.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

function storeWith(...keys: string[]) {
  const store = createMemoryStore();
  for (const key of keys) store.put(key, key);
  return store;
}

const lineWith = (key: string, size: number, sha256: string) =>
  ({ items: [{ kind: 'data', key, size, sha256, outcome: 'created' }] }) as unknown as LedgerLine;

describe('the artefacts of a job', () => {
  it('are found below the prefix of every source', async () => {
    const store = storeWith(
      'jobs/a/data',
      'team/jobs/a/transcript.json',
      'jobs/ab/data',
      'other/jobs/a/data',
    );
    const found = await Array.fromAsync(listJobObjects(store, ['', 'team/'], 'a'), ({ key, folder }) => [
      key,
      folder,
    ]);
    expect(found).toEqual([
      ['jobs/a/data', 'jobs/a/'],
      ['team/jobs/a/transcript.json', 'team/jobs/a/'],
    ]);
  });

  it('are listed with their kind, without one that is deleted meanwhile', async () => {
    const store = storeWith('jobs/a/data', 'jobs/a/jobinfo.json', 'jobs/a/transcript.json');
    const head = (key: string) => (key === 'jobs/a/data' ? Promise.resolve(null) : store.head(key));
    const found = await readArtefacts({ ...store, head }, [''], 'a');
    expect(found.map(({ info, kind }) => [info.key, kind])).toEqual([
      ['jobs/a/jobinfo.json', 'jobinfo'],
      ['jobs/a/transcript.json', 'transcript.json-v2'],
    ]);
    expect(await readArtefacts(store, [''], 'b')).toEqual([]);
  });

  it('are the first thousand of a job that has more', async () => {
    const names = Array.from({ length: 1005 }, (_, n) => `jobs/a/attachments/${String(n).padStart(16, '0')}`);
    expect(await readArtefacts(storeWith(...names), [''], 'a')).toHaveLength(1000);
  });
});

describe('an artefact', () => {
  const KEY = 'jobs/a/data';
  const HASH = 'f'.repeat(64);
  const described = async (timeline: LedgerLine[], metadata = {}) => {
    const store = storeWith(KEY);
    const info = await store.head(KEY);
    if (info === null) throw new Error('it was put there');
    return describeArtefact({ info: { ...info, metadata }, kind: 'data' }, timeline);
  };

  it('is described by what its object says', async () => {
    const { storedAt, ...rest } = await described([lineWith(KEY, KEY.length, '0')], {
      sha256: HASH,
      origin: 'recovery',
    });
    expect(rest).toEqual({
      key: KEY,
      kind: 'data',
      size: KEY.length,
      sha256: HASH,
      contentType: 'text/plain',
      origin: 'recovery',
      replaced: null,
    });
    expect(new Date(storedAt).toISOString()).toBe(storedAt);
  });

  it('has the hash of the ledger line that names its key and size when its object does not say it', async () => {
    const lines = [
      lineWith(KEY, KEY.length, ''),
      lineWith(KEY, KEY.length + 1, '1'.repeat(64)),
      lineWith('jobs/a/jobinfo.json', KEY.length, '2'.repeat(64)),
      lineWith(KEY, KEY.length, HASH),
    ];
    expect(await described(lines)).toMatchObject({ sha256: HASH, origin: null });
    expect((await described(lines.slice(0, 3))).sha256).toBeNull();
  });
});
