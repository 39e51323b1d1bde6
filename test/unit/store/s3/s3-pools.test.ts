import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openStandInStore, PREFIX, type StandInStore } from '../../../support/store/stand-in-store.js';
import { until } from '../../../support/until.js';

const HEADERS = { contentType: 'text/plain', metadata: {} };
/** More than what sockets take in on the way. */
const LARGE = Buffer.alloc(24 * 1024 * 1024, 'x');
/** Milliseconds after which a wait ends, longer than a process stands still. */
const SOON = 12_000;

/** All at the same time, each with a store of its own: they wait for time-outs. */
describe('connections to the store', () => {
  const opened: StandInStore[] = [];
  afterAll(async () => {
    for (const under of opened) await under.close();
  });

  async function open(): Promise<StandInStore> {
    const under = await openStandInStore({
      maxSockets: 1,
      retries: 0,
      connectTimeoutMs: SOON,
      requestTimeoutMs: SOON,
      partTimeoutMs: 60_000,
    });
    opened.push(under);
    under.standIn.state.put(`${PREFIX}large`, LARGE, {});
    under.standIn.state.put(`${PREFIX}small`, Buffer.from('small'), {});
    return under;
  }

  const small = async ({ store }: StandInStore, pace?: 'own' | 'download') => {
    const reading = await store.read('small', null, pace);
    return reading && text(reading.body);
  };

  it.concurrent('are not waited for without end by a write, of which nothing is sent then', async () => {
    const under = await open();
    under.standIn.misbehave = ({ key }) => (key.endsWith('slow') ? { kind: 'hang' } : null);
    const slow = under.store.create('slow', LARGE.subarray(0, 2 * 1024 * 1024), HEADERS);
    slow.catch(() => undefined);
    await until(() => under.standIn.requests.length === 1);
    await expect(under.store.create('quick', Buffer.from('quick'), HEADERS)).rejects.toThrow(
      /no connection became free in time/,
    );
    expect(under.standIn.requests).toHaveLength(1);
    // Reads and control have connections of their own.
    expect(await small(under)).toBe('small');
    expect((await under.store.head('small'))?.size).toBe(5);
  });

  it.concurrent('are not waited for without end by a read', async () => {
    const under = await open();
    const unread = await under.store.read('large');
    await expect(small(under)).rejects.toThrow(/no connection became free in time/);
    unread?.body.destroy();
    expect(await small(under)).toBe('small');
  });

  it.concurrent('are not waited for without end by control', async () => {
    const under = await open();
    under.standIn.misbehave = ({ key }) => (key.endsWith('slow') ? { kind: 'hang' } : null);
    const both = await Promise.allSettled([under.store.head('slow'), under.store.head('small')]);
    expect(both.map(({ status }) => status)).toContain('rejected');
    expect((await under.store.head('small'))?.size).toBe(5);
  });

  it.concurrent('that are idle are closed before a server may close them, which could meet a request', async () => {
    const under = await open();
    expect(await small(under)).toBe('small');
    await Array.fromAsync(under.store.list('s'));
    expect(under.standIn.connections).toBe(2);
    await until(() => under.standIn.openConnections === 0);
  });

  it.concurrent('of paused downloads delay no other request', async () => {
    const under = await open();
    const paused = await Promise.all(
      Array.from({ length: 3 }, () => under.store.read('large', null, 'download')),
    );
    expect(await small(under)).toBe('small');
    expect(await small(under, 'download')).toBe('small');
    expect(await under.store.create('created', Buffer.from('x'), HEADERS)).toBe('created');
    for (const each of paused) each?.body.destroy();
  });
});
