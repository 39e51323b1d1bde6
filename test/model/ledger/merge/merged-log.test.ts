import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { sentFolder } from '../../../../src/ledger/ledger-keys.js';
import { readMergedHour } from '../../../../src/ledger/log/merge-record.js';
import { createMerger } from '../../../../src/ledger/merge/merge.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { compressedOtherwise } from '../../../support/ledger/compressed-otherwise.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { contentsOfLog } from '../../../support/ledger/log-contents.js';
import { interruptedStore } from '../../../support/store/interrupted-store.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

/**
 * A log that is merged in any order, by processes that work at once and die before or behind any store call, against one that is never
 * merged: both give the same segments, with the same content, times and gaps.
 */

const FIRST = Date.parse('2026-03-04T05:00:00.000Z');
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const FOLDERS = ['ledger/', sentFolder('crm')];
const LINE = JSON.stringify(ledgerLine({}));

const drawnSound = fc.constantFrom(
  `${LINE}\n`,
  `${LINE}\n${LINE}\n${LINE}\n`,
  // No line feed, of a newer version, of another format.
  `${LINE}\n${LINE}`,
  `${JSON.stringify({ ...ledgerLine({}), v: 2 })}\n`,
  '{}\n',
);
/** No line, no text, no JSON, not UTF-8: such segments are not merged, so that they can be restored. */
const DAMAGED = ['\n\n', '', 'damaged\n', `${LINE}\n${LINE.slice(0, 50)}`, '\xff\xfe\n'];
const drawnText = fc.oneof({ weight: 5, arbitrary: drawnSound }, fc.constantFrom(...DAMAGED));

const drawnStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      writer: fc.constantFrom('a', 'b', 'crm/a'),
      hour: fc.nat(2),
      texts: fc.array(drawnText, { minLength: 1, maxLength: 4 }),
      isLost: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('merge' as const),
      /** For each of two processes: the store call before which it dies; whether the call took effect all the same. */
      deaths: fc.array(
        fc.record({
          call: fc.oneof(fc.integer({ min: 4, max: 14 }), fc.integer({ min: 1, max: 60 })),
          isLate: fc.boolean(),
        }),
        {
          minLength: 1,
          maxLength: 2,
        },
      ),
      keep: fc.constantFrom(null, null, 3 * HOUR),
      objectBytes: fc.constantFrom(1, 300, 1_000_000),
      /** Whether what they leave has the bytes of another line of Node. */
      isOtherNode: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(1, 3, 30) }),
  },
);

/** A process that dies at one of its calls of the store. */
function dying(store: ObjectStore, { call, isLate }: { call: number; isLate: boolean }) {
  const stopped = new AbortController();
  let calls = 0;
  const die = async () => {
    await immediate();
    if (stopped.signal.aborted) throw new StoreError('test', 'the process died');
    calls += 1;
    if (calls < call) return;
    stopped.abort();
    if (!isLate) throw new StoreError('test', 'the process died');
  };
  return { store: interruptedStore(store, die), signal: stopped.signal };
}

function world() {
  let now = FIRST + 6 * HOUR;
  const clock = () => now;
  const store = createMemoryStore(undefined, clock);
  const plain = createMemoryStore(undefined, clock);
  const numbers = new Map<string, number>();
  return {
    store,
    plain,
    clock,
    wait: (ms: number) => {
      now += ms;
    },
    write(writer: string, start: number, text: string, isLost: boolean) {
      const number = (numbers.get(`${writer} ${start}`) ?? 0) + 1;
      numbers.set(`${writer} ${start}`, number);
      if (isLost) return;
      const key = segmentKey({ hour: hourAt(start), writer, number });
      for (const each of [store, plain]) {
        each.put(key, '', start + number * 1000);
        const stored = each.objects.get(key);
        if (stored) each.objects.set(key, { ...stored, body: Buffer.from(text, 'latin1') });
      }
    },
  };
}

/** As if another line of Node had written the objects whose processes died before their records. */
async function compressOtherwise(store: ReturnType<typeof createMemoryStore>): Promise<void> {
  for (const folder of FOLDERS)
    for (let start = FIRST; start <= FIRST + 2 * HOUR; start += HOUR)
      for (const { key } of (await readMergedHour(store, hourAt(start), folder)).unnamed) {
        const object = store.objects.get(key);
        if (object) store.objects.set(key, { ...object, body: compressedOtherwise(object.body) });
      }
}

describe('a merged log', () => {
  it('gives the segments, contents, times and gaps of one that was not, whatever dies, comes late or is deleted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawnStep, { minLength: 4, maxLength: 14 }), async (steps) => {
        const { store, plain, clock, wait, write } = world();
        for (const step of steps) {
          if (step.kind === 'write')
            for (const text of step.texts) write(step.writer, FIRST + step.hour * HOUR, text, step.isLost);
          else if (step.kind === 'wait') wait(step.hours * HOUR);
          else {
            await Promise.all(
              step.deaths.map(async (death) => {
                const { store: own, signal } = dying(store, death);
                const merger = createMerger({
                  store: own,
                  clock,
                  keepSegments: step.keep,
                  objectBytes: step.objectBytes,
                  ...(step.keep !== null && { keepSent: YEAR }),
                });
                await merger.run({ signal, since: new Date(0) });
              }),
            );
            if (step.isOtherNode) await compressOtherwise(store);
          }
          const [merged, expected] = [
            await contentsOfLog(store, FOLDERS),
            await contentsOfLog(plain, FOLDERS),
          ];
          expect(merged).toEqual({ ...expected, faults: [] });
        }
        wait(2 * DAY);
        const expected = await contentsOfLog(plain, FOLDERS);
        const isDamaged = ({ content }: { content: string | null }) => DAMAGED.includes(content ?? '');
        const keys = expected.segments.filter((each) => !isDamaged(each)).map(({ key }) => key);
        const leftOut = expected.segments.filter(isDamaged).map(({ key }) => key);
        const report = await createMerger({ store, clock, keepSegments: null }).run({ since: new Date(0) });
        expect(report.oldestOpen).toBeNull();
        for (const { reason } of report.faults) expect(reason).toMatch(/ has lost numbers? | is left out /);
        const covered: string[] = [];
        for (const folder of FOLDERS)
          for (let start = FIRST; start <= FIRST + 2 * HOUR; start += HOUR) {
            const hour = hourAt(start);
            const { records, unnamed } = await readMergedHour(store, hour, folder);
            expect(unnamed).toEqual([]);
            covered.push(
              ...records.flatMap(({ segments }) => segments.map((each) => segmentKey({ ...each, hour }))),
            );
          }
        expect(covered.sort()).toEqual(keys);
        wait(2 * HOUR);
        await createMerger({ store, clock, keepSegments: HOUR, keepSent: YEAR }).run({ since: new Date(0) });
        const left = [...store.objects.keys()].filter((key) => key.endsWith('.ndjson'));
        expect(left.sort()).toEqual(leftOut.sort());
        expect(await contentsOfLog(store, FOLDERS)).toEqual({ ...expected, faults: [] });
      }),
      { numRuns: 150 },
    );
  }, 240_000);

  it("gives all that is in a segment or a sound object, once, names what is damaged, missing or another's, and merges the rest again", async () => {
    const damage = fc.record({
      kind: fc.constantFrom(...(['delete', 'junk', 'another', 'flip'] as const)),
      which: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnSound, { minLength: 2, maxLength: 12 }),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.constantFrom(1, 300),
        async (texts, damages, gone, objectBytes) => {
          const { store, plain, clock, wait, write } = world();
          for (const [index, text] of texts.entries())
            write(index % 3 === 0 ? 'a' : 'b', FIRST + (index % 2) * HOUR, text, false);
          const parts = { store, clock, keepSegments: null, objectBytes };
          expect((await createMerger(parts).run()).faults).toEqual([]);
          const all = await contentsOfLog(plain);
          const records = (
            await Promise.all([0, 1].map((each) => readMergedHour(store, hourAt(FIRST + each * HOUR))))
          ).flatMap((merged) => merged.records);
          for (const which of gone)
            store.objects.delete(all.segments[which % all.segments.length]?.key ?? '');
          const files = [...store.objects.keys()].filter((key) => key.startsWith('ledger-hours/'));
          const damaged = new Set<string>();
          for (const { kind, which } of damages) {
            const key = files[which % files.length] ?? '';
            const file = store.objects.get(key);
            const other = store.objects.get(files[(which + 1) % files.length] ?? '');
            if (file === undefined || other === undefined || damaged.has(key)) continue;
            const flipped = Buffer.from(file.body);
            flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 0x15;
            // A record that is gone was never there.
            if (kind === 'delete' && key.endsWith('.json')) continue;
            if (kind === 'delete') store.objects.delete(key);
            else if (kind === 'junk') store.put(key, 'junk');
            else store.objects.set(key, { ...file, body: kind === 'flip' ? flipped : other.body });
            damaged.add(key);
          }
          const isSound = (key: string) => (record: (typeof records)[number]) =>
            !damaged.has(record.object) &&
            !damaged.has(`ledger-hours/${record.hour}${record.n}.json`) &&
            record.segments.some((each) => segmentKey({ ...each, hour: record.hour }) === key);
          const isThere = ({ key }: { readonly key: string }) =>
            store.objects.has(key) || records.some(isSound(key));
          const found = await contentsOfLog(store);
          // A flipped bit can leave a record valid, or lie in a part of the object that means nothing.
          const isFlipped = damages.some(({ kind }) => kind === 'flip');
          const expected = all.segments.filter(isThere);
          if (!isFlipped) expect(found.segments).toEqual(expected);
          expect(found.segments).toEqual(expect.arrayContaining(expected));
          expect(all.segments).toEqual(expect.arrayContaining([...found.segments]));
          expect(new Set(found.segments.map(({ key }) => key)).size).toBe(found.segments.length);
          for (const key of damaged)
            if (!isFlipped)
              expect(found.faults.join()).toContain(key.replace(/-[0-9a-f]{16}\.ndjson\.gz$|\.json$/, ''));
          wait(DAY);
          const report = await createMerger(parts).run();
          // Its bytes are read back before segments are deleted, and by verify.
          if (!isFlipped) expect(report.faults.length > 0).toBe(found.faults.length + found.lost.length > 0);
          for (const segment of await contentsOfLog(store).then((again) => again.segments))
            expect(all.segments).toContainEqual(segment);
        },
      ),
      { numRuns: 150 },
    );
  }, 240_000);
});
