import { describe, expect, it } from '@jest/globals';
import { includesId, settledId } from '../../../../src/recovery/settled/settled-ids.js';
import {
  expireSettled,
  openSettledStore,
  settledScope,
} from '../../../../src/recovery/settled/settled-store.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const DAY = 86_400_000;
const NOON = Date.parse('2026-03-04T12:00:00Z');
const STRETCH = { from: NOON, to: NOON + 10, matched: 3, ignored: 1 };
const AT = NOON + 1000;

const SOURCES = { default: { contents: ['transcript'], keyPrefix: '' } };

describe('the store of settled jobs', () => {
  it('returns what runs wrote of a region, from the days that are asked for', async () => {
    const store = createMemoryStore();
    const settled = openSettledStore(store, 'eu1', 'scope');
    await settled.writeIds({ from: NOON, to: NOON + 5 }, [settledId('b'), settledId('a')]);
    await settled.writeStretches([STRETCH, { ...STRETCH, from: NOON - DAY, to: NOON - DAY }], AT);
    const { stretches, idsFiles } = await settled.read({ from: NOON, to: NOON });
    expect(stretches).toEqual([{ ...STRETCH, at: AT }]);
    expect(idsFiles).toMatchObject([{ from: NOON, to: NOON + 5 }]);
    const ids = await settled.readIds({ from: 0, to: 0, key: idsFiles[0]?.key ?? '' });
    expect(['a', 'b', 'c'].map((id) => includesId(ids, settledId(id)))).toEqual([true, true, false]);
    expect((await settled.read({ from: NOON - DAY, to: NOON })).stretches).toHaveLength(2);
    for (const other of [openSettledStore(store, 'us1', 'scope'), openSettledStore(store, 'eu1', 'other')]) {
      expect(await other.read({ from: NOON, to: NOON })).toEqual({ stretches: [], idsFiles: [] });
    }
  });

  it.each([
    ['is not JSON', '{"v":1,"stretches":[[1,2'],
    ['has another version', JSON.stringify({ v: 2, at: AT, stretches: [[NOON, NOON, 1, 0]] })],
    [
      'has other rows',
      JSON.stringify({ v: 1, at: AT, stretches: [[NOON, NOON], [NOON, NOON - 1, 1, 0], 'x', null] }),
    ],
  ])('ignores an object that %s', async (_name, text) => {
    const store = createMemoryStore();
    store.put('.settled/2026-03-04/eu1/scope/01K00000000000000000000000.json', text);
    store.put('.settled/2026-03-04/eu1/scope/01K00000000000000000000000.json.bak', '{}');
    const settled = openSettledStore(store, 'eu1', 'scope');
    expect((await settled.read({ from: NOON, to: NOON })).stretches).toEqual([]);
  });

  it('takes truncated ids for none, so that the jobs are looked at again', async () => {
    const store = createMemoryStore();
    store.put('.settled/x.ids', 'shorter than');
    store.put('.settled/y.ids', 'not a multiple');
    const settled = openSettledStore(store, 'eu1', 'scope');
    expect(await settled.readIds({ from: 0, to: 0, key: '.settled/x.ids' })).toHaveLength(12);
    expect(await settled.readIds({ from: 0, to: 0, key: '.settled/y.ids' })).toHaveLength(0);
    expect(await settled.readIds({ from: 0, to: 0, key: '.settled/gone.ids' })).toHaveLength(0);
  });

  it('forgets a region, whatever the settings were, and removes days that are over', async () => {
    const store = createMemoryStore();
    const [one, other] = ['eu1', 'us1'].map((region) => openSettledStore(store, region, 'scope'));
    for (const settled of [one, other, openSettledStore(store, 'eu1', 'before')]) {
      await settled?.writeStretches([STRETCH, { ...STRETCH, from: NOON - DAY, to: NOON - DAY }], AT);
    }
    await one?.forget({ from: NOON, to: NOON });
    expect(foldersOf(store)).toEqual([
      '.settled/2026-03-03/eu1/before',
      '.settled/2026-03-03/eu1/scope',
      '.settled/2026-03-03/us1/scope',
      '.settled/2026-03-04/us1/scope',
    ]);
    await expireSettled(store, NOON);
    expect(foldersOf(store)).toEqual(['.settled/2026-03-04/us1/scope']);
  });

  it('has a scope for all settings that decide what is expected of a job', () => {
    const scope = settledScope({ sources: SOURCES, publicUrl: null }, null);
    const reordered = { b: { contents: [], keyPrefix: '' }, ...SOURCES };
    expect(settledScope({ sources: { ...SOURCES }, publicUrl: null }, null)).toBe(scope);
    expect(settledScope({ sources: reordered, publicUrl: null }, null)).toBe(
      settledScope({ sources: { ...SOURCES, b: { contents: [], keyPrefix: '' } }, publicUrl: null }, null),
    );
    const others = [
      settledScope({ sources: SOURCES, publicUrl: 'https://a.example' }, null),
      settledScope({ sources: SOURCES, publicUrl: null }, 'default'),
      settledScope({ sources: reordered, publicUrl: null }, null),
      settledScope({ sources: { default: { contents: ['data'], keyPrefix: '' } }, publicUrl: null }, null),
      settledScope(
        { sources: { default: { contents: ['transcript'], keyPrefix: 'a/' } }, publicUrl: null },
        null,
      ),
    ];
    expect(new Set([scope, ...others]).size).toBe(6);
  });
});

function foldersOf(store: ReturnType<typeof createMemoryStore>): string[] {
  return [...new Set([...store.objects.keys()].map((key) => key.slice(0, key.lastIndexOf('/'))))].sort();
}
