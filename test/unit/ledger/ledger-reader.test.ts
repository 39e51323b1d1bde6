import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { listPartitions, readLedger } from '../../../src/ledger/ledger-reader.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import { StoreError } from '../../../src/store/object-store.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const at = (receivedAt: string) => ledgerLine({ receivedAt, jobId: receivedAt.slice(0, 16) });
const ndjson = (...lines: unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('ledger reader', () => {
  it('reads back what two replicas wrote, hour by hour', async () => {
    const store = createMemoryStore();
    const hours = ['2026-03-04T23:10', '2026-03-05T00:20', '2026-03-05T01:30', '2026-03-06T01:30'];
    const lines = hours.map((hour) => at(`${hour}:00.000Z`));
    const ledgers = ['a', 'b'].map((replica) => createLedger({ store, replica }));
    await Promise.all(lines.toReversed().map((line, index) => ledgers[index % 2]?.append(line)));

    expect(await collect(readLedger(store))).toEqual(lines);
  });

  it('includes since and excludes until', async () => {
    const store = createMemoryStore();
    const ledger = createLedger({ store, replica: 'r' });
    const minutes = ['2026-03-03T09:00', '2026-03-04T05:00', '2026-03-04T05:30', '2026-03-04T06:00'];
    await Promise.all(minutes.map((minute) => ledger.append(at(`${minute}:00.000Z`))));

    const range = { since: '2026-03-04T05:00:00Z', until: '2026-03-04T07:00:00+01:00' };
    const found = await collect(readLedger(store, range));
    expect(found.map((line) => line.jobId)).toEqual(['2026-03-04T05:00', '2026-03-04T05:30']);
    expect(await collect(listPartitions(store, range))).toEqual([
      'ledger/dt=2026-03-04/hour=05/',
      'ledger/dt=2026-03-04/hour=06/',
    ]);
  });

  it('skips lines that it cannot parse and reports where they are', async () => {
    const store = createMemoryStore();
    const good = ledgerLine();
    const segment = 'ledger/dt=2026-03-04/hour=05/01ABC-r.ndjson';
    store.put(
      segment,
      `${ndjson(good)}{"v":1,\n\n[]\nnull\n${ndjson({ ...good, receivedAt: 'yesterday' })}${ndjson(good).slice(0, 40)}`,
    );
    store.put('ledger/dt=2026-03-04/hour=05/notes.txt', 'not ours');
    store.put('ledger/README', 'not ours');
    const broken: { segment: string; line: number }[] = [];

    const found = await collect(readLedger(store, { onBroken: (where) => broken.push(where) }));

    expect(found).toEqual([good]);
    expect(broken).toEqual([2, 4, 5, 6, 7].map((line) => ({ segment, line })));
  });

  it('reads the lines beside one whose bytes are not UTF-8', async () => {
    const store = createMemoryStore();
    const good = ledgerLine();
    const segment = 'ledger/dt=2026-03-04/hour=05/01ABC-r.ndjson';
    const [before = '', after = ''] = ndjson({ ...good, reason: 'Z|rich' }).split('|');
    const damaged = Buffer.concat([Buffer.from(before), Buffer.of(0xfc), Buffer.from(after)]);
    store.objects.set(segment, {
      body: Buffer.concat([Buffer.from(ndjson(good)), damaged, Buffer.from(ndjson(good))]),
      headers: { contentType: 'application/x-ndjson', metadata: {} },
      modifiedAt: new Date(0),
    });
    const broken: unknown[] = [];
    const found = await collect(readLedger(store, { onBroken: (where) => broken.push(where) }));
    expect(found).toEqual([good, good]);
    expect(broken).toEqual([{ segment, line: 2 }]);
  });

  it('reports a segment without lines, which is never written so', async () => {
    const store = createMemoryStore();
    const segment = 'ledger/dt=2026-03-04/hour=05/01ABC-r.ndjson';
    store.put(segment, '');
    const broken: unknown[] = [];
    await collect(readLedger(store, { onBroken: (where) => broken.push(where) }));
    expect(broken).toEqual([{ segment, line: 0 }]);
  });

  it('names the segments that it read', async () => {
    const store = createMemoryStore();
    const segments = ['01ABC-r', '01ABD-r'].map((name) => `ledger/dt=2026-03-04/hour=05/${name}.ndjson`);
    for (const segment of segments) store.put(segment, ndjson(at('2026-03-04T05:00:00.000Z')));
    const read: string[] = [];
    await collect(readLedger(store, { onSegment: (key) => read.push(key) }));
    expect(read).toEqual(segments);
  });

  it('skips lines of newer versions and reports them apart from lines without a valid version', async () => {
    const store = createMemoryStore();
    const good = ledgerLine();
    const segment = 'ledger/dt=2026-03-04/hour=05/01ABC-r.ndjson';
    store.put(segment, ndjson({ ...good, v: 2 }, good, { ...good, v: '2' }, { v: 3 }, { ...good, v: 0 }));
    const broken: number[] = [];
    const newer: number[] = [];
    const found = await collect(
      readLedger(store, {
        onBroken: ({ line }) => broken.push(line),
        onNewer: ({ line }) => newer.push(line),
      }),
    );
    expect(found).toEqual([good]);
    expect(newer).toEqual([1, 4]);
    expect(broken).toEqual([3, 5]);
  });

  it('keeps unknown fields, fills missing ones, and yields equal ids twice', async () => {
    const store = createMemoryStore();
    const short = {
      v: 1,
      deliveryId: 'd',
      receivedAt: '2026-03-04T05:06:07.089Z',
      origin: 'import',
      outcome: 'stored',
      colour: 'blue',
    };
    store.put('ledger/dt=2026-03-04/hour=05/01ABC-r.ndjson', ndjson(short, short));
    const found = await collect(readLedger(store));
    expect(found).toHaveLength(2);
    expect(found[0]).toMatchObject({ ...short, jobId: null, items: [], bytes: 0 });
  });

  it('continues when a segment is deleted between listing and reading', async () => {
    const store = createMemoryStore((operation, key) => {
      if (operation === 'read' && key.includes('01A')) store.objects.delete(key);
    });
    const line = ledgerLine();
    store.put('ledger/dt=2026-03-04/hour=05/01A-r.ndjson', ndjson(line));
    store.put('ledger/dt=2026-03-04/hour=05/01B-r.ndjson', ndjson(line));
    expect(await collect(readLedger(store))).toHaveLength(1);
  });

  it('ends with the error of the store, never early without one', async () => {
    const store = createMemoryStore((operation, key) => {
      if (operation === 'read' && key.includes('01B')) throw new StoreError('read', 'timed out');
    });
    for (const name of ['01A', '01B', '01C']) {
      store.put(`ledger/dt=2026-03-04/hour=05/${name}-r.ndjson`, ndjson(ledgerLine()));
    }
    const seen: LedgerLine[] = [];
    const read = async () => {
      for await (const line of readLedger(store)) seen.push(line);
    };
    await expect(read()).rejects.toThrow('timed out');
    expect(seen).toHaveLength(1);
  });

  it('reads no more segments ahead than it may', async () => {
    const store = createMemoryStore();
    for (let n = 10; n < 40; n += 1) {
      store.put(`ledger/dt=2026-03-04/hour=05/01${n}-r.ndjson`, ndjson(ledgerLine()));
    }
    const lines = readLedger(store, { concurrency: 4 });
    await lines.next();
    expect(store.calls.filter((call) => call.operation === 'read')).toHaveLength(4);
    await lines.return(undefined);
  });
});
