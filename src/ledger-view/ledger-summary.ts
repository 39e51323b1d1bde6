import { setImmediate as immediate } from 'node:timers/promises';
import type { RowWindow } from './row-window.js';
import { createFigures, MAX_COUNTED_NAMES, type SummaryFigures } from './summary-figures.js';

/** Figures over a stretch of time, for charts and for the question whether all is well. */
export interface LedgerSummary {
  /** ISO 8601; the stretch the figures are about. */
  readonly since: string;
  readonly until: string;
  readonly total: SummaryFigures;
  /** Equal stretches, oldest first; empty ones included. */
  readonly buckets: readonly (SummaryFigures & { readonly start: string })[];
  /** Last delivery taken (not refused) by region and by source, over all that is held in memory. */
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

/** Rows between two turns of the event loop: some 5 ms. */
const SLICE = 20_000;

export async function summarise(window: RowWindow, range: SummaryRange): Promise<LedgerSummary> {
  const { since, until, buckets } = range;
  const width = (until - since) / buckets;
  const figures = Array.from({ length: buckets }, createFigures);
  const lastByRegion = new Map<string, number>();
  const lastBySource = new Map<string, number>();
  const lastByCredential = new Map<string, number>();
  let seen = 0;
  for (const { rows } of window.hoursBefore()) {
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (!row) continue;
      if (row.outcome !== 'refused' && row.origin === 'callback') {
        noteFirst(lastByRegion, row.region, row.time);
        noteFirst(lastBySource, row.source, row.time);
        if (row.credential !== null) noteFirst(lastByCredential, `${row.source}/${row.credential}`, row.time);
      }
      if (row.time >= since && row.time < until) figures[Math.floor((row.time - since) / width)]?.add(row);
      seen += 1;
      if (seen % SLICE === 0) await immediate();
    }
  }
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

/** Rows come newest first, so the first one seen is the last one received. */
function noteFirst(last: Map<string, number>, name: string | null, time: number): void {
  if (name !== null && !last.has(name) && last.size < MAX_COUNTED_NAMES) last.set(name, time);
}

function instants(times: ReadonlyMap<string, number>): Record<string, string> {
  return Object.fromEntries([...times].map(([name, time]) => [name, iso(time)]));
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
