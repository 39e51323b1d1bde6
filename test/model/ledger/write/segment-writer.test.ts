import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HOUR, hourAt, startOfHour, WHOLE_AFTER } from '../../../../src/ledger/hours.js';
import { listSegments } from '../../../../src/ledger/list-segments.js';
import { coveredNumbers } from '../../../../src/ledger/log/covered-numbers.js';
import { parseSegmentKey } from '../../../../src/ledger/segment-key.js';
import { createLedger, type Ledger } from '../../../../src/ledger/write/ledger.js';
import { type CreateResult, StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const MINUTE = 60_000;
/** Just before the turn of an hour. */
const BEGIN = Date.parse('2026-03-04T05:58:00Z');
/** The store's bounds: of the age of a request, and of the clock of who sends it. */
const LATEST = 15 * MINUTE;

/** What becomes of a write. */
type Fate =
  | 'written'
  /** It never arrives. */
  | 'refused'
  /** It is written, and its answer is lost. */
  | 'unanswered'
  /** It is answered with an error, and arrives later. */
  | 'late'
  /** It is not answered in time, and arrives later. */
  | 'silent'
  /** A conditional write was repeated: the store says that the object exists. */
  | 'exists';

type Action =
  | { readonly kind: 'append'; readonly replica: number; readonly lines: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'fates'; readonly fates: readonly Fate[] }
  | { readonly kind: 'arrive' }
  | { readonly kind: 'kill'; readonly replica: number }
  | { readonly kind: 'skew'; readonly replica: number; readonly ms: number };

const fate = fc.constantFrom<Fate>('written', 'written', 'refused', 'unanswered', 'late', 'silent', 'exists');
const replica = fc.integer({ min: 0, max: 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    kind: fc.constant('append' as const),
    replica,
    lines: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constant('fates' as const), fates: fc.array(fate, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 3 * MINUTE }) }),
  fc.record({ kind: fc.constant('arrive' as const) }),
  fc.record({ kind: fc.constant('kill' as const), replica }),
  fc.record({
    kind: fc.constant('skew' as const),
    replica,
    ms: fc.integer({ min: -5 * MINUTE, max: 5 * MINUTE }),
  }),
);

/** A store whose answers and writes come as the model says, two replicas, and a reader that follows by number. */
function world(isEmulated: boolean) {
  let now = BEGIN;
  let fates: Fate[] = [];
  const memory = createMemoryStore(undefined, () => now);
  const pending: { readonly until: number; arrive(): Promise<unknown> }[] = [];
  const acknowledged = new Set<string>();
  const offsets = [0, 0];
  const ledgers: Ledger[] = [];
  const positions = new Map<string, Map<string, number>>();
  const seen: string[] = [];

  const create: typeof memory.create = async (key, body, headers): Promise<CreateResult> => {
    const write = () => memory.create(key, body, headers);
    // Where conditions are emulated, nothing keeps a late write from replacing an object that was written meanwhile.
    const arrive = isEmulated ? () => memory.replace(key, body, headers) : write;
    const later = () => void pending.push({ until: now + LATEST, arrive });
    switch (fates.shift() ?? 'written') {
      case 'written':
        return write();
      case 'refused':
        throw new StoreError('create', 'refused');
      case 'unanswered':
        await write();
        throw new StoreError('create', 'no answer');
      case 'late':
        later();
        throw new StoreError('create', 'no answer');
      case 'silent':
        later();
        return new Promise(() => undefined);
      case 'exists':
        await write();
        return 'exists';
    }
  };

  function start(index: number): void {
    // A killed process writes no more; its name belongs to no other.
    const store = { ...memory, create, clockOffset: () => -(offsets[index] ?? 0) };
    ledgers[index] = createLedger({
      store,
      replica: 'same-name',
      clock: () => now + (offsets[index] ?? 0),
      writeDeadline: 5,
    });
  }
  start(0);
  start(1);

  /** Reads as a subscriber does: the numbers behind the position of each hour that is not whole. */
  async function follow(): Promise<void> {
    for (const time of [now - HOUR, now, now + HOUR]) {
      const hour = hourAt(time);
      if (startOfHour(hour) + HOUR + WHOLE_AFTER <= now) continue;
      const position = positions.get(hour) ?? new Map<string, number>();
      positions.set(hour, position);
      for await (const { key, writer, number } of listSegments(memory, hour, undefined, new Map(position))) {
        expect(number).toBe((position.get(writer) ?? 0) + 1);
        position.set(writer, number);
        seen.push(key);
      }
    }
  }

  return {
    memory,
    acknowledged,
    seen,
    follow,
    async act(each: Action): Promise<void> {
      if (each.kind === 'advance') {
        now += each.ms;
        for (let index = pending.length - 1; index >= 0; index -= 1) {
          const write = pending[index];
          if (write !== undefined && write.until < now) pending.splice(index, 1);
        }
      } else if (each.kind === 'fates') fates = [...each.fates];
      else if (each.kind === 'arrive') for (const write of pending.splice(0)) await write.arrive();
      else if (each.kind === 'kill') start(each.replica);
      else if (each.kind === 'skew') offsets[each.replica] = each.ms;
      else {
        const isFair = fates.length === 0;
        const lines = Array.from({ length: each.lines }, () => ledgerLine());
        const appended = lines.map(async (line) => {
          await ledgers[each.replica]?.append(line);
          acknowledged.add(line.deliveryId);
        });
        const results = await Promise.allSettled(appended);
        // A store that answers takes every line, whatever came before.
        if (isFair) expect(results.map(({ status }) => status)).toEqual(lines.map(() => 'fulfilled'));
      }
    },
  };
}

const actions = fc.array(action, { minLength: 5, maxLength: 40 });

const append = (index: number): Action => ({ kind: 'append', replica: index, lines: 1 });

/** What the random orders rarely come to. */
const EXAMPLES: [Action[], boolean][] = [
  // A write in doubt arrives after later ones of the same process.
  [
    [append(0), { kind: 'fates', fates: ['late'] }, append(0), append(0), append(0), { kind: 'arrive' }],
    true,
  ],
  // A write in doubt arrives in an hour that has turned.
  [
    [
      { kind: 'fates', fates: ['silent'] },
      append(0),
      { kind: 'advance', ms: 3 * MINUTE },
      append(0),
      { kind: 'advance', ms: 2 * MINUTE },
      { kind: 'arrive' },
    ],
    false,
  ],
  // The clock of a replica is set back over the turn of an hour.
  [
    [
      { kind: 'skew', replica: 0, ms: 5 * MINUTE },
      append(0),
      append(0),
      { kind: 'skew', replica: 0, ms: -5 * MINUTE },
      append(0),
      { kind: 'skew', replica: 0, ms: 5 * MINUTE },
      append(0),
    ],
    false,
  ],
];

describe('the segments of two replicas of one name', () => {
  it('hold every acknowledged line, and a reader that follows by number passes none, whatever fails, is late or dies', async () => {
    await fc.assert(
      fc.asyncProperty(actions, fc.boolean(), async (steps, isEmulated) => {
        const given = world(isEmulated);
        for (const each of steps) {
          await given.act(each);
          await given.follow();
        }
        const { objects } = given.memory;
        const stored = [...objects.values()].map(({ body }) => body.toString()).join('');
        expect([...given.acknowledged].filter((id) => !stored.includes(id))).toEqual([]);
        // Everything that lies in the store was read, once.
        expect(given.seen.toSorted()).toEqual([...objects.keys()].sort());
        const places = [...objects.keys()].flatMap((key) => parseSegmentKey(key) ?? []);
        for (const hour of new Set(places.map((place) => place.hour))) {
          const segments = places.filter((place) => place.hour === hour).sort((a, b) => a.number - b.number);
          expect(coveredNumbers([{ segments }]).gaps()).toEqual([]);
        }
      }),
      { numRuns: 60, examples: EXAMPLES },
    );
  });
});
