import { describe, expect, it } from '@jest/globals';
import { StoreError } from '../../../src/store/object-store.js';
import { newOutboxState } from '../../../src/subscribers/outbox-state.js';
import { createOutboxStore } from '../../../src/subscribers/outbox-store.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const KEY = 'outbox/crm/state.json';
const STATE = newOutboxState(0, { before: 0, hours: {}, passed: {}, missing: {} });
const HEADERS = { contentType: 'application/json', metadata: {} };

describe("a subscriber's state", () => {
  it('is null before the first sender, and found when a sender saves it during the read', async () => {
    const memory = createMemoryStore();
    const head = async (key: string) => {
      await memory.replace(KEY, Buffer.from(JSON.stringify(STATE)), HEADERS);
      return memory.head(key);
    };
    expect(await createOutboxStore(memory, 'crm').read()).toBeNull();
    expect(await createOutboxStore({ ...memory, head }, 'crm').read()).toEqual(STATE);
  });

  it.each(['', '{"v":2}', '[]', '{"v":1', '{"v":1}', JSON.stringify({ ...STATE, waiting: null })])(
    'that is %p is an error, not a new beginning',
    async (text) => {
      const store = createMemoryStore();
      await store.replace(KEY, Buffer.from(text), HEADERS);
      await expect(createOutboxStore(store, 'crm').read()).rejects.toThrow(
        `${KEY} is gone, damaged, or of a newer version`,
      );
    },
  );

  it('passes from sender to sender where old claims cannot be deleted', async () => {
    const store = createMemoryStore((operation) => {
      if (operation === 'delete') throw new StoreError('delete', 'access denied', { condition: 'denied' });
    });
    const states = createOutboxStore(store, 'crm');
    for (let number = 0; number < 20; number += 1) {
      const state = { ...STATE, claim: number };
      expect(await states.claim(state, 'a')).toEqual(state);
      await states.save({ ...state, claim: number + 1 });
    }
  });

  it('is taken over as its sender saved it last, which may then have deleted what the state before names', async () => {
    const states = createOutboxStore(createMemoryStore(), 'crm');
    const batch = { name: '1-1', dueAt: 0, bySource: [] };
    const read = { ...STATE, claim: 1, batches: [batch] };
    const last = { ...read, batches: [] };
    await states.save(last);
    expect(await states.claim(read, 'b')).toEqual(last);
    await states.save({ ...last, claim: 2 });
    expect(await states.claim(last, 'c')).toBeNull();
  });

  it('loses the batches of earlier senders that it does not name, and none of a later one', async () => {
    const store = createMemoryStore();
    const states = createOutboxStore(store, 'crm');
    for (const name of ['1-1', '2-1', '2-2', '3-1', '4-1']) await states.saveBatch(name, []);
    await states.deleteOtherBatches({
      ...STATE,
      claim: 3,
      batches: [{ name: '2-1', dueAt: 0, bySource: [] }],
    });
    expect([...store.objects.keys()]).toEqual(
      ['2-1', '3-1', '4-1'].map((name) => `outbox/crm/waiting/${name}.json`),
    );
  });

  it('that is gone is an error once a sender has sent or taken over from another one, until the claims are gone as well', async () => {
    const store = createMemoryStore();
    const states = createOutboxStore(store, 'crm');
    expect(await states.claim(STATE, 'a')).toEqual(STATE);
    expect(await states.read()).toBeNull();
    await states.save({ ...STATE, claim: 1 });
    await store.delete(KEY);
    expect(await states.read()).toBeNull();
    store.put('outbox/crm/sent/dt=2026-03-04/hour=05/w~00000001.ndjson', '');
    await expect(states.read()).rejects.toThrow(`${KEY} is gone`);
    await states.save({ ...STATE, claim: 1 });
    expect(await states.claim({ ...STATE, claim: 1 }, 'b')).not.toBeNull();
    await store.delete(KEY);
    await expect(states.read()).rejects.toThrow(`${KEY} is gone`);
    for (const number of [1, 2]) await store.delete(`outbox/crm/claim-00000000${number}.json`);
    expect(await states.read()).toBeNull();
    expect(await states.claim(STATE, 'c')).toEqual(STATE);
  });
});
