import { type CsvCell, csvRows } from '../../domain/csv-rows.js';
import type { SummaryFigures, SummaryRow } from '../../domain/summary-figures.js';
import { contextOfGroup } from '../../domain/summary-groups.js';
import { GROUP_NOTES } from '../../index/summary-words.js';

const FIGURES = ['deliveries', 'bytes', 'callbacks', 'not2xx', 'missed', 'p50Ms', 'p95Ms', 'p99Ms', 'maxMs'];

interface Grouped {
  readonly since: string;
  readonly until: string;
  readonly total: SummaryFigures;
  readonly by: string | null;
  readonly groups: readonly SummaryRow[] | null;
}

/** All rows as CSV with a header; a summary without groups is one row. */
export function summaryCsv(summary: Grouped): string {
  const { by, groups, total, since, until } = summary;
  const outcomes = Object.keys(total.outcomes).sort();
  const figures = ({
    lines,
    bytes,
    callbacks,
    refused,
    missed,
    duration,
    outcomes: counts,
  }: SummaryFigures): CsvCell[] => [
    lines,
    bytes,
    callbacks,
    refused,
    missed,
    duration?.p50,
    duration?.p95,
    duration?.p99,
    duration?.max,
    ...outcomes.map((name) => (Object.hasOwn(counts, name) ? counts[name] : 0)),
  ];
  const titles = [...FIGURES, ...outcomes];
  if (by === null || groups === null)
    return csvRows([
      ['since', 'until', ...titles],
      [since, until, ...figures(total)],
    ]);
  const own = by === 'cause' ? ['cause', 'source'] : [contextOfGroup(by) ?? by];
  const rows = groups.map((row) => [
    row.value ?? (row.note === null ? null : GROUP_NOTES[row.note]),
    ...(by === 'cause' ? [row.source] : []),
    ...figures(row),
  ]);
  return csvRows([[...own, ...titles], ...rows]);
}
