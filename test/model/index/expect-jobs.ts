import { expect } from '@jest/globals';
import type { SourceScope } from '../../../src/domain/rights.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import { comparePlaces } from '../../../src/ledger/log/line-place.js';
import type { Placed } from './indexed-ledger.js';

const SEARCHES = [
  { text: 'Alpha', match: 'whole' },
  { text: 'acme', match: 'whole' },
  { text: 'customer=acme', match: 'whole' },
  { text: 'ALPHA', match: 'part' },
  { text: 'CM', match: 'part' },
] as const;
const NAMES = ['call', 'customer'];

type Search = (typeof SEARCHES)[number];

/** Jobs by an id, a value of their context, or a part of either. */
export function expectJobs(index: LedgerIndex, lines: readonly Placed[], scope: SourceScope): void {
  const visible = lines.filter(
    ({ line }) => line.origin !== 'admin' && (scope === null || scope.has(line.source ?? '')),
  );
  for (const search of SEARCHES) {
    const found = index.matchJobs({ ...search, names: NAMES, limit: 10, scope });
    const shown = found.map(({ by, place }) => {
      const { line } = lines.find((each) => comparePlaces(each.place, place) === 0) as Placed;
      return [by, line.jobId, line.receivedAt];
    });
    const byContext = visible.filter((each) => valuesOf(each).some((value) => hits(search, value)));
    expect(shown).toEqual([
      ...newestOf(visible.filter(({ line }) => hits(search, line.jobId ?? ''))).map((each) => [
        'id',
        ...each,
      ]),
      ...newestOf(byContext).map((each) => ['context', ...each]),
    ]);
  }
}

function hits({ text, match }: Search, value: string): boolean {
  return match === 'whole' ? value === text : value.toLowerCase().includes(text.toLowerCase());
}

function valuesOf({ line: { context = {} } }: Placed): string[] {
  return Object.entries(context).flatMap(([name, value]) => [value, `${name}=${value}`]);
}

/** The newest line of each job. */
function newestOf(lines: readonly Placed[]): [job: string, receivedAt: string][] {
  const last = new Map<string, string>();
  for (const { line } of lines) {
    const { jobId, receivedAt } = line;
    if (jobId !== null && receivedAt > (last.get(jobId) ?? '')) last.set(jobId, receivedAt);
  }
  return [...last].sort(([a, one], [b, other]) => (one === other ? (a < b ? -1 : 1) : one < other ? 1 : -1));
}
