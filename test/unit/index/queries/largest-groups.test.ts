import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LineClass } from '../../../../src/index/line-classes.js';
import { createLargestGroups, type SummedGroup } from '../../../../src/index/queries/largest-groups.js';

const CALLBACK: LineClass = {
  ...{ id: 1, origin: 'callback', outcome: 'stored', source: 'intake', region: 'eu', status: 'done' },
  ...{ credential: null, reason: null, actor: null, event: null },
};

const bytesOf = (groups: readonly (readonly [string, number])[]) =>
  groups.reduce((sum, [, bytes]) => sum + bytes, 0);

describe('the groups with the most lines', () => {
  it('are kept with all of their lines, and the others are summed up, wherever a group is taken out and goes on elsewhere', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 }),
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (sizes, keep, atOnce) => {
          const lines = sizes.flatMap((size, group) => Array.from({ length: size }, () => String(group)));
          const groups: SummedGroup[] = [];
          let rest = { groups: 0, lines: 0, bytes: 0 };
          let begun: SummedGroup | null = null;
          for (let from = 0; from < lines.length; from += atOnce) {
            const largest = createLargestGroups(keep, begun);
            for (const [at, name] of lines.slice(from, from + atOnce).entries())
              largest.add(name, CALLBACK, { id: from + at, bytes: 1000 + from + at, took: 5 });
            begun = from + atOnce < lines.length ? largest.takeLast() : null;
            const found = largest.result();
            expect(found.groups.length).toBeLessThanOrEqual(keep);
            groups.push(...found.groups);
            const { groups: left = 0, parts } = found.rest ?? {};
            rest = {
              groups: rest.groups + left,
              lines: rest.lines + (parts?.lines ?? 0),
              bytes: rest.bytes + (parts?.bytes ?? 0),
            };
          }

          const whole = sizes.map((size, group) => {
            const first = lines.indexOf(String(group));
            const bytes = Array.from({ length: size }, (_, at) => 1000 + first + at);
            return { name: String(group), size, last: first + size - 1, bytes };
          });
          const bySize = whole.toSorted((one, other) => other.size - one.size);
          const wanted = bySize.slice(0, keep).map(({ name }) => name);
          const kept = groups.toSorted(([, one], [, other]) => other.lines - one.lines).slice(0, keep);
          expect(kept.map(([name]) => name)).toEqual(wanted);
          for (const [name, parts, sample] of groups) {
            const { size, last, bytes } = whole[Number(name)] ?? { bytes: [] };
            expect([parts.lines, sample]).toEqual([size, last]);
            expect(parts.bytes).toBe(bytes.reduce((sum, each) => sum + each, 0));
            expect([...parts.buckets.values()]).toEqual([size]);
          }
          expect(groups.length + rest.groups).toBe(sizes.length);
          expect(rest.lines + groups.reduce((sum, [, parts]) => sum + parts.lines, 0)).toBe(lines.length);
          const all = whole.map(({ name, bytes }) => [name, bytes.reduce((a, b) => a + b, 0)] as const);
          expect(rest.bytes + bytesOf(groups.map(([name, { bytes }]) => [name, bytes]))).toBe(bytesOf(all));
        },
      ),
    );
  });
});
