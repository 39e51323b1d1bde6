import { describe, expect, it } from '@jest/globals';
import { createOutboxStore } from '../../../src/subscribers/outbox-store.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const KEY = 'outbox/crm/state.json';
const HEADERS = { contentType: 'application/json', metadata: {} };

describe("a subscriber's state", () => {
  it('is null before the first sender, and found when a sender saves it during the read', async () => {
    const memory = createMemoryStore();
    const head = async (key: string) => {
      await memory.replace(KEY, Buffer.from('{"v":1,"claim":1}'), HEADERS);
      return memory.head(key);
    };
    expect(await createOutboxStore(memory, 'crm').read()).toBeNull();
    expect(await createOutboxStore({ ...memory, head }, 'crm').read()).toEqual({ v: 1, claim: 1 });
  });

  it.each(['', '{"v":2}', '[]', '{"v":1'])('that is %p is an error, not a new beginning', async (text) => {
    const store = createMemoryStore();
    await store.replace(KEY, Buffer.from(text), HEADERS);
    await expect(createOutboxStore(store, 'crm').read()).rejects.toThrow(
      `${KEY} is damaged, or of a newer version`,
    );
  });
});
