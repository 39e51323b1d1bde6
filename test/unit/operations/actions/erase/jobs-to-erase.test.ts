import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { markErased } from '../../../../../src/archive/erasure/erasure.js';
import { placesOfJob, previewErasure } from '../../../../../src/operations/actions/erase/jobs-to-erase.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';
import { openStandInStore, type StandInStore } from '../../../../support/store/stand-in-store.js';

const TEXT = { contentType: 'text/plain', metadata: {}, content: { kind: 'transcript', source: 'default' } };
const UNTIL = '2099-01-02T03:04:05.000Z';
const view = {
  deliveries: async () => ({
    deliveries: [],
    nextCursor: null,
    index: { since: null, until: null, missing: [] },
  }),
};

describe('the preview of an erasure', () => {
  let place: StandInStore;
  beforeEach(async () => {
    place = await openStandInStore();
    place.standIn.state.objectLock = true;
  });
  afterEach(() => place.close());

  const preview = async (jobId: string) => {
    const [job] = await previewErasure({ store: place.store, keyPrefixes: [''], view }, [jobId]);
    return job;
  };
  const lock = (key: string, headers: Record<string, string>) => {
    for (const [name, object] of place.standIn.state.objects)
      if (name.endsWith(key)) Object.assign(object.headers, headers);
  };

  it('says until when a retention protects an object', async () => {
    for (const name of ['a', 'b']) await place.store.create(`jobs/j1/${name}`, Buffer.from('12345'), TEXT);
    expect(await preview('j1')).toMatchObject({ state: 'known', objects: 2, bytes: 10, protected: null });
    lock('j1/a', { 'x-amz-object-lock-retain-until-date': UNTIL });
    lock('j1/b', { 'x-amz-object-lock-retain-until-date': '2001-01-01T00:00:00Z' });
    expect(await preview('j1')).toMatchObject({ objects: 2, protected: { until: UNTIL } });
    lock('j1/b', { 'x-amz-object-lock-legal-hold': 'ON' });
    expect(await preview('j1')).toMatchObject({ protected: { until: null } });
  });

  it('reads no headers of objects where none can be locked', async () => {
    place.standIn.state.objectLock = false;
    await place.store.create('jobs/j1/a', Buffer.from('12345'), TEXT);
    place.standIn.requests.length = 0;
    await preview('j1');
    expect(place.standIn.requests.filter(({ operation }) => operation === 'HeadObject')).toEqual([]);
  });

  it('knows what an earlier erasure left, by its mark', async () => {
    const audit = { actor: 'anna', reason: 'request 4711' };
    const mark = { complete: false, keptUntil: UNTIL, finishedAt: null };
    await markErased(place.store, 'j1', audit, mark);
    expect(await preview('j1')).toMatchObject({ state: 'known', erasure: null, protected: null });
    await markErased(place.store, 'j1', audit, { ...mark, finishedAt: '2026-03-04T05:06:07.000Z' });
    expect(await preview('j1')).toMatchObject({
      state: 'known',
      erasure: null,
      protected: { until: UNTIL },
    });
    await markErased(place.store, 'j1', audit, {
      complete: true,
      keptUntil: null,
      finishedAt: '2026-03-05T05:06:07.000Z',
    });
    expect(await preview('j1')).toMatchObject({
      state: 'erased',
      erasure: { erasedAt: '2026-03-05T05:06:07.000Z', ...audit },
    });
    expect(await preview('j2')).toMatchObject({ state: 'unknown', erasure: null });
  });
});

describe('the places of a job', () => {
  it('are found in one walk through its lines: prefixes that they name, and all sources', async () => {
    const store = createMemoryStore();
    const metadata = { source: 'by-its-object' };
    await store.create('old/jobs/j1/data', Buffer.from('x'), { contentType: 'text/plain', metadata });
    const lineOf = (key: string) =>
      ledgerLine({ items: [{ key, kind: 'data', size: 1, sha256: 'ab', outcome: 'created' }] });
    const pages = [
      ['jobs/j1/data', 'old/jobs/j1/data', '../jobs/j1/data'],
      ['older/jobs/j1/data', 'x/jobs/j2/data', 'unjobs/j1/data', 'old/jobs/j1/data'],
    ];
    const asked: unknown[] = [];
    const walked = {
      async deliveries({ cursor }: { cursor?: string | undefined } = {}) {
        asked.push(cursor);
        const page = await view.deliveries();
        const keys = pages[cursor === undefined ? 0 : 1] ?? [];
        return { ...page, deliveries: keys.map(lineOf), nextCursor: cursor === undefined ? 'next' : null };
      },
      sourcesOfJob: async () => ['b', 'a'],
    };
    expect(await placesOfJob({ store, keyPrefixes: ['', 'new/'], view: walked }, 'j1')).toEqual({
      keyPrefixes: ['', 'new/', 'old/', 'older/'],
      sources: ['a', 'b', 'by-its-object'],
    });
    expect(asked).toEqual([undefined, 'next']);
  });
});
