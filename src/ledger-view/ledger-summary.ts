import { type RowWindow, visitRows } from './row-window.js';
import { createFigures, MAX_COUNTED_NAMES, type SummaryFigures } from './summary-figures.js';

/** Figures of a period, for charts and for the verdict on health. */
export interface LedgerSummary {
  /** ISO 8601; the period of the figures. */
  readonly since: string;
  readonly until: string;
  readonly total: SummaryFigures;
  /** Parts of the period of equal length, oldest first; empty ones included. */
  readonly buckets: readonly (SummaryFigures & { readonly start: string })[];
  /** Last accepted delivery by region and by source, over all rows in memory. */
  readonly lastByRegion: Readonly<Record<string, string>>;
  readonly lastBySource: Readonly<Record<string, string>>;
  /** The same by `<source>/<credential>`. */
  readonly lastByCredential: Readonly<Record<string, string>>;
}

export interface SummaryRange {
  readonly since: number;
  readonly until: number;
  readonly buckets: number;
}

export async function summarise(window: RowWindow, range: SummaryRange): Promise<LedgerSummary> {
  const { since, until, buckets } = range;
  const width = (until - since) / buckets;
  const figures = Array.from({ length: buckets }, createFigures);
  const lastByRegion = new Map<string, number>();
  const lastBySource = new Map<string, number>();
  const lastByCredential = new Map<string, number>();
  await visitRows(window, (row) => {
    if (row.outcome !== 'refused' && row.origin === 'callback') {
      noteFirst(lastByRegion, row.region, row.time);
      noteFirst(lastBySource, row.source, row.time);
      if (row.credential !== null) noteFirst(lastByCredential, `${row.source}/${row.credential}`, row.time);
    }
    if (row.time >= since && row.time < until) figures[Math.floor((row.time - since) / width)]?.add(row);
  });
  const total = createFigures();
  for (const figure of figures) total.addAll(figure);
  return {
    since: iso(since),
    until: iso(until),
    total: total.result(),
    buckets: figures.map((figure, index) => ({ start: iso(since + index * width), ...figure.result() })),
    lastByRegion: instants(lastByRegion),
    lastBySource: instants(lastBySource),
    lastByCredential: instants(lastByCredential),
  };
}

/** Rows come newest first: the first one seen is the last one received. */
function noteFirst(last: Map<string, number>, name: string | null, time: number): void {
  if (name !== null && !last.has(name) && last.size < MAX_COUNTED_NAMES) last.set(name, time);
}

function instants(times: ReadonlyMap<string, number>): Record<string, string> {
  return Object.fromEntries([...times].map(([name, time]) => [name, iso(time)]));
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
