import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';

const HEADERS = { contentType: 'text/plain', metadata: {} };

describe.each([
  ['ahead of', -20 * 60_000],
  ['behind', 20 * 60_000],
])('a clock twenty minutes %s the store’s', (words, serverAheadMs) => {
  let under: StandInStore;

  beforeEach(async () => {
    under = await openStandInStore({ retries: 1 });
    under.standIn.clockAheadMs = serverAheadMs;
  });
  afterEach(() => under.close());

  it('is corrected by the first refusal, remembered, and reported once', async () => {
    const { store, standIn } = under;
    expect(await store.create('a', Buffer.from('a'), HEADERS)).toBe('created');
    expect(standIn.requests).toHaveLength(2);
    const upload = await store.startUpload('b', HEADERS);
    await upload.write(Buffer.from('b'));
    expect(await upload.complete()).toBe('created');
    const reading = await store.read('b');
    expect(reading && (await text(reading.body))).toBe('b');
    expect((await store.head('a'))?.size).toBe(1);
    const refused = standIn.requests.filter(({ operation }) => operation === 'PutObject');
    expect(refused).toHaveLength(2);
    expect(under.notices).toHaveLength(1);
    expect(under.notices[0]).toMatch(new RegExp(`clock is 1(200|199|201) s ${words} the store's`));
  });

  it('is reported as right again once it was set', async () => {
    await under.store.create('a', Buffer.from('a'), HEADERS);
    under.standIn.clockAheadMs = 0;
    expect(await under.store.create('b', Buffer.from('b'), HEADERS)).toBe('created');
    expect(under.notices).toHaveLength(2);
    expect(under.notices[1]).toMatch(/^this machine's clock agrees with the store's again/);
  });

  it('is corrected by the refusal of a head, which names no reason', async () => {
    under.standIn.state.put(`${PREFIX}there`, Buffer.from('x'), {});
    expect((await under.store.head('there'))?.size).toBe(1);
    expect(under.notices).toHaveLength(1);
  });

  it('is corrected once for many requests at a time', async () => {
    const keys = Array.from({ length: 8 }, (_, n) => `many/${n}`);
    const results = await Promise.all(keys.map((key) => under.store.create(key, Buffer.from(key), HEADERS)));
    expect(new Set(results)).toEqual(new Set(['created']));
    expect(under.notices).toHaveLength(1);
  });
});

it.each([-240_000, 0, 600_000])(
  'knows how far the store’s clock is ahead by its answers: %d ms',
  async (ahead) => {
    const under = await openStandInStore({ retries: 0 });
    try {
      expect(under.store.clockOffset?.()).toBe(0);
      under.standIn.clockAheadMs = ahead;
      const list = () => Array.fromAsync(under.store.list(''));
      const create = () => under.store.create('a', Buffer.from('a'), HEADERS);
      for (const ask of [list, create, () => under.store.head('a'), () => under.store.read('a')]) {
        await ask();
        // The header has whole seconds.
        expect(Math.abs((under.store.clockOffset?.() ?? 0) - ahead)).toBeLessThan(30_000);
      }
    } finally {
      await under.close();
    }
  },
);

it('is not corrected twice for a request that is refused for its date whatever it is', async () => {
  const under = await openStandInStore({ retries: 0 });
  under.standIn.misbehave = () => ({ kind: 'answer', status: 403, code: 'RequestTimeTooSkewed' });
  try {
    await expect(under.store.create('a', Buffer.from('a'), HEADERS)).rejects.toThrow(/clocks .* differ/);
    expect(under.standIn.requests).toHaveLength(1);
    expect(under.notices).toEqual([]);
  } finally {
    await under.close();
  }
});

it('does not take another refusal for one of the clock', async () => {
  const under = await openStandInStore({ retries: 1 });
  under.standIn.clockAheadMs = 290_000;
  under.standIn.state.put(`${PREFIX}taken`, Buffer.from('x'), {});
  try {
    const upload = await under.store.startUpload('taken', HEADERS);
    await upload.write(Buffer.from('y'));
    expect(await upload.complete()).toBe('exists');
    const completions = under.standIn.requests.filter(({ operation }) => operation === 'CompleteUpload');
    expect(completions).toHaveLength(1);
    under.standIn.misbehave = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
    await expect(under.store.startUpload('other', HEADERS)).rejects.toMatchObject({ condition: 'denied' });
  } finally {
    await under.close();
  }
});
