import { beforeEach, describe, expect, it } from '@jest/globals';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { describeLost, type LostSegments } from '../../../../src/ledger/log/covered-numbers.js';
import { createLogFollower } from '../../../../src/ledger/log/follow-log.js';
import { hourPosition, markRead } from '../../../../src/ledger/log/hour-position.js';
import { scanLines } from '../../../../src/ledger/log/scan-lines.js';
import { segmentsOfHour } from '../../../../src/ledger/log/segments-of-hour.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { mergeLedger } from '../../../support/ledger/merge-ledger.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const START = Date.parse('2026-03-04T05:00:00.000Z');
const FOLDER = hourAt(START);
const FOREIGN = segmentKey({ hour: FOLDER, writer: 'x', number: 99_999_999 });
const SENTENCE = `ledger/${FOLDER} has lost numbers 1 to 99999998 of x, or ${FOREIGN} is foreign: delete it then`;
const CALLS = 20;

let now: number;
let store: ReturnType<typeof createMemoryStore>;
let lost: string[];

function put(writer: string, number: number, jobId: string): void {
  store.put(
    segmentKey({ hour: FOLDER, writer, number }),
    `${JSON.stringify(ledgerLine({ jobId }))}\n`,
    START,
  );
}

const onLost = (range: LostSegments) => void lost.push(describeLost(range));

async function readHour(): Promise<string[]> {
  const reading = { store, onLost, onFault: ({ message }: Error) => void lost.push(message) };
  const found: string[] = [];
  for await (const { writer, number } of segmentsOfHour(reading, hourPosition(FOLDER)))
    found.push(`${writer} ${number}`);
  return found;
}

beforeEach(() => {
  now = START + HOUR / 2;
  lost = [];
  store = createMemoryStore(undefined, () => now);
});

describe('a foreign object with a high number', () => {
  beforeEach(() => {
    put('a', 1, 'one');
    put('x', 99_999_999, 'foreign');
    put('y', 1, 'two');
    store.calls.length = 0;
  });

  it('costs a reader of the hour no call for each number before it, and is named', async () => {
    expect(await readHour()).toEqual(['a 1', 'x 99999999', 'y 1']);
    expect(lost).toEqual([SENTENCE]);
    expect(store.calls.length).toBeLessThan(CALLS);
  });

  it('costs a follower none, who goes on behind it', async () => {
    const log = createLogFollower({
      store,
      clock: () => now,
      hours: new Map(),
      onLost,
      onUnlisted: () => undefined,
    });
    const look = async () => {
      const found: string[] = [];
      for await (const { position, writer, number } of log.newSegments()) {
        found.push(`${writer} ${number}`);
        markRead(position, { writer, number });
      }
      return found;
    };
    expect(await look()).toEqual(['a 1', 'x 99999999', 'y 1']);
    put('a', 2, 'three');
    expect(await look()).toEqual(['a 2']);
    expect(lost).toEqual([SENTENCE]);
    expect(store.calls.length).toBeLessThan(CALLS);
  });

  it('costs a scan none, and neither a merge nor what reads the merged hour', async () => {
    const scan = async () => {
      const jobs: (string | null)[] = [];
      const range = { since: START, until: START + HOUR };
      const onFault = (text: string) => void lost.push(text);
      for await (const { line } of scanLines({ store, ...range, onFault, onUnreadable: () => undefined }))
        jobs.push(line.jobId);
      return jobs;
    };
    expect(await scan()).toEqual(['one', 'foreign', 'two']);
    now = START + 2 * HOUR;
    const { faults } = await mergeLedger({ store, clock: () => now, keepSegments: null });
    expect(faults).toEqual([{ hour: `ledger/${FOLDER}`, reason: SENTENCE }]);
    expect(await scan()).toEqual(['one', 'foreign', 'two']);
    expect(lost).toEqual([SENTENCE, SENTENCE]);
    expect(store.calls.length).toBeLessThan(4 * CALLS);
  });
});

describe('a merged object of more than a thousand segments', () => {
  const ALL = Array.from({ length: 1_200 }, (_, index) => `a ${index + 1}`);

  async function merge(): Promise<string> {
    for (let number = 1; number <= ALL.length; number += 1) put('a', number, 'one');
    now = START + 2 * HOUR;
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    const keys = await Array.fromAsync(store.keys('ledger-hours/'));
    return keys.find((key) => key.endsWith('.gz')) ?? '';
  }

  it('that is missing costs no line whose segment exists', async () => {
    const object = await merge();
    await store.delete(object);
    expect(await readHour()).toEqual(ALL);
    expect(lost).toEqual([expect.stringContaining('it is missing')]);
  });

  it('that is shorter than its record says costs no line whose segment exists', async () => {
    store.put(await merge(), '\0'.repeat(10));
    expect(await readHour()).toEqual(ALL);
    expect(lost).toEqual([expect.stringContaining('it has 10 bytes')]);
  });

  it('that is damaged costs no line whose segment exists', async () => {
    const object = await merge();
    const { size = 0 } = (await store.head(object)) ?? {};
    store.put(object, '\0'.repeat(size));
    expect(await readHour()).toEqual(ALL);
    expect(lost).toEqual([expect.stringContaining('its bytes are not those that its record names')]);
  });

  it('that was restored after its hour was merged again returns each line once', async () => {
    const object = await merge();
    const stored = store.objects.get(object);
    await store.delete(object);
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    if (stored !== undefined) store.objects.set(object, stored);
    const records = await Array.fromAsync(store.keys('ledger-hours/'));
    expect(records.filter((key) => key.endsWith('.json'))).toHaveLength(2);
    expect(await readHour()).toEqual(ALL);
    expect(lost).toEqual([]);
  });
});
