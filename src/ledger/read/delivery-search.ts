import type { ObjectStore } from '../../store/object-store.js';
import type { DeliverySearch } from './delivery-query.js';
import type { CompactedHours } from './log/compacted-hours.js';
import type { LogBeginning } from './log/log-beginning.js';
import { entryOf, type LogEntry, type LogStep } from './log/log-entry.js';
import { type LogRange, matchesFields } from './log/log-filter.js';
import { beforeInstant, comparePositions, type LogPosition } from './log/log-position.js';
import { type LogSearch, scanLog } from './log/scan-log.js';
import type { DroppedJobs } from './window/dropped-jobs.js';
import { type LedgerRow, linesOf } from './window/ledger-row.js';
import { matchContext } from './window/match-context.js';
import type { RowWindow } from './window/row-window.js';

/** The lines of one page, and where the next page begins; null when there is nothing older. */
export interface FoundLines {
  /** Newest first. */
  readonly entries: readonly LogEntry[];
  readonly next: LogPosition | null;
  /**
   * Everything written from this instant on was searched, in milliseconds since the epoch; null when the search reached the beginning
   * of the ledger.
   */
  readonly searchedBackTo: number | null;
  /** What is damaged or missing, so that lines may be. */
  readonly faults: readonly string[];
}

export interface SearchParts {
  readonly store: ObjectStore;
  readonly compacted: CompactedHours;
  readonly window: RowWindow;
  /** Milliseconds that a page may search the store. A page that needs more ends early with a cursor. */
  readonly pageTime: number;
  /** When the lines of jobs that left the window were written. */
  readonly droppedJobs: DroppedJobs;
  /** The window holds everything written from this instant on. */
  readonly completeSince: () => number;
  /** Everything written from this instant on is in the window, or left it. */
  readonly seenSince: () => number;
  /** Whether the window is still being filled. */
  readonly isLoading: () => boolean;
  readonly onSkipped: LogSearch['onSkipped'];
  readonly beginning: LogBeginning;
}

/**
 * Newest first: the lines in memory, and, where the query has a range or memory is not filled yet, those before them from the store.
 * Rejects with `StoreError`.
 */
export async function searchDeliveries(parts: SearchParts, search: DeliverySearch): Promise<FoundLines> {
  const found = await searchRange(parts, search);
  const { searchedBackTo } = found;
  if (found.next !== null || searchedBackTo === null) return found;
  // What is in memory is answered without the store as well.
  const isWhole = await parts.beginning.isAfter(searchedBackTo).catch(() => false);
  return isWhole ? { ...found, searchedBackTo: null } : found;
}

async function searchRange(parts: SearchParts, search: DeliverySearch): Promise<FoundLines> {
  const complete = parts.completeSince();
  const held = heldLines(parts.window, search, complete);
  if (held.length > search.limit || complete <= search.since) return pageOf(search, held, null, []);
  const edge = beforeInstant(complete);
  const isBehind = comparePositions(search.start, edge) <= 0;
  if (!search.explicit && !isBehind && !parts.isLoading()) {
    return pageOf(search, held, (await parts.beginning.isAfter(complete)) ? null : edge, []);
  }
  return searchStore(parts, search, held, isBehind ? search.start : edge);
}

/** One line more than the page holds: it shows whether there is a next page. */
function heldLines(window: RowWindow, search: DeliverySearch, complete: number): LogEntry[] {
  const { filter, since, start, limit } = search;
  const hasContext = filter.context === null ? () => true : matchContext(filter.context);
  const oldest = Math.max(since, complete);
  const found: LedgerRow[] = [];
  for (const { rows, count } of window.hoursBefore(start)) {
    for (let index = count - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (!row || row.written < oldest || found.length > limit) return entriesOf(found);
      if (matchesFields(filter, row) && hasContext(row)) found.push(row);
    }
  }
  return entriesOf(found);
}

/** The lines of rows; one that cannot be parsed is left out. */
function entriesOf(rows: readonly LedgerRow[]): LogEntry[] {
  return linesOf(rows).flatMap((line, index) => {
    const row = rows[index];
    return line === null || row === undefined ? [] : [entryOf(line, row.written)];
  });
}

async function searchStore(
  parts: SearchParts,
  search: DeliverySearch,
  held: readonly LogEntry[],
  before: LogPosition,
): Promise<FoundLines> {
  const deadline = performance.now() + parts.pageTime;
  const faults = new Set<string>();
  const entries = [...held];
  const wanted = search.limit + 1 - held.length;
  const scan = (range: LogRange) =>
    scanLog(parts.store, parts.compacted, {
      ...{ range, filter: search.filter, wanted, signal: search.signal, onSkipped: parts.onSkipped },
      onFault: (text) => faults.add(text),
    });
  const steps = scanFor(parts, search, before, scan);
  let next: LogPosition | null = null;
  for await (const step of steps) {
    entries.push(...step.entries);
    if (entries.length > search.limit) break;
    const isProgress = comparePositions(step.at, before) < 0;
    if (!isProgress || performance.now() < deadline) continue;
    next = step.at.written > search.since ? step.at : null;
    break;
  }
  return pageOf(search, entries, next, [...faults]);
}

/** Of a job only the segments of the instants at which its lines were written, as far back as these are known; else all. */
async function* scanFor(
  parts: SearchParts,
  { filter, since }: DeliverySearch,
  before: LogPosition,
  scan: (range: LogRange) => AsyncIterable<LogStep>,
): AsyncGenerator<LogStep> {
  const { job } = filter.wanted;
  const known = Math.max(since, parts.seenSince(), parts.droppedJobs.since);
  let rest = before;
  if (job !== undefined && known < before.written) {
    for (const time of instantsOf(parts, job)) {
      if (time < known || time > before.written) continue;
      const end = beforeInstant(time + 1);
      const range = {
        order: 'newest',
        since: time,
        before: comparePositions(end, before) < 0 ? end : before,
      } as const;
      const begin = beforeInstant(time);
      // A scanned hour says that it was looked at back to its beginning.
      for await (const { entries, at } of scan(range))
        yield { entries, at: comparePositions(at, begin) > 0 ? at : begin };
    }
    rest = beforeInstant(known);
    yield { entries: [], at: rest };
  }
  if (rest.written > since) yield* scan({ order: 'newest', since, before: rest });
}

/** Newest first. A line that was seen late is in the window, among lines older than those that it holds completely. */
function instantsOf({ window, droppedJobs, completeSince }: SearchParts, job: string): number[] {
  const instants = new Set(droppedJobs.instantsOf(job));
  for (const { rows, count } of window.hoursBefore(beforeInstant(completeSince()))) {
    for (const row of rows.slice(0, count)) if (row.job === job) instants.add(row.written);
  }
  return [...instants].sort((a, b) => b - a);
}

/** The next page begins after the last line of this one. */
function pageOf(
  { limit, since }: DeliverySearch,
  entries: readonly LogEntry[],
  otherwise: LogPosition | null,
  faults: readonly string[],
): FoundLines {
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const next = entries.length > limit && last ? last : otherwise;
  const end = Number.isFinite(since) ? since : null;
  return { entries: page, next, searchedBackTo: next === null ? end : next.written, faults };
}
