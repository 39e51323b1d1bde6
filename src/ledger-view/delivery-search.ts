import type { RowSearch } from './delivery-query.js';
import type { LedgerHistory } from './ledger-history.js';
import type { LedgerRow } from './ledger-row.js';
import { beforeInstant, comparePositions, type RowPosition } from './row-position.js';
import type { RowWindow } from './row-window.js';

/** Rows of one page, and where the next page begins; null when there is nothing older. */
export interface FoundRows {
  readonly rows: readonly LedgerRow[];
  readonly next: RowPosition | null;
  /**
   * Everything received from this instant on was searched, in milliseconds since the epoch; null when the search reached
   * the beginning of the ledger.
   */
  readonly searchedBackTo: number | null;
  /** Files whose lines are missing, and why. */
  readonly faults: readonly string[];
}

export interface SearchSources {
  readonly window: RowWindow;
  readonly history: LedgerHistory;
  /** Milliseconds that a page may search older hours. A page that needs more ends early with a cursor. */
  readonly pageTime: number;
  /** The window holds everything from this instant on. */
  completeSince(): number;
  /** Settles when more is loaded; null after the first load. */
  moreLoaded(): Promise<void> | null;
}

/**
 * Newest first: searches the window as far as it is complete, and waits for the first load where that is not far enough.
 * A query with a range continues with older hours from the store.
 */
export async function searchRows(sources: SearchSources, search: RowSearch): Promise<FoundRows> {
  let held = searchWindow(sources, search);
  for (
    let more = sources.moreLoaded();
    more && wantsMore(sources, search, held);
    more = sources.moreLoaded()
  ) {
    await more;
    held = searchWindow(sources, search);
  }
  if (!wantsMore(sources, search, held)) return pageOf(search, held, null);

  const edge = beforeInstant(sources.completeSince());
  // A page may begin among lines of the instant at which the window begins. The window has shown those already.
  const older = comparePositions(search.start, edge) > 0 ? edge : search.start;
  if (!search.explicit && older === edge) {
    return pageOf(search, held, (await sources.history.hasBefore(edge.time)) ? edge : null);
  }
  return searchHistory(sources, search, held, older);
}

function wantsMore(sources: SearchSources, search: RowSearch, held: readonly LedgerRow[]): boolean {
  return held.length <= search.limit && sources.completeSince() > search.since;
}

/** Looks for one row more than the page holds: it shows whether there is a next page. */
function searchWindow(sources: SearchSources, search: RowSearch): LedgerRow[] {
  const found: LedgerRow[] = [];
  const oldest = Math.max(search.since, sources.completeSince());
  for (const { rows, count } of sources.window.hoursBefore(search.start)) {
    for (let index = count - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (!row || row.time < oldest || found.length > search.limit) return found;
      if (search.matches(row)) found.push(row);
    }
  }
  return found;
}

async function searchHistory(
  sources: SearchSources,
  search: RowSearch,
  held: readonly LedgerRow[],
  from: RowPosition,
): Promise<FoundRows> {
  const { rows, next, faults } = await sources.history.search({
    search,
    from,
    // The extra row only shows that there are more.
    wanted: search.limit + 1 - held.length,
    deadline: performance.now() + sources.pageTime,
  });
  return { ...pageOf(search, [...held, ...rows], next), faults };
}

/** The next page begins after the last row of this one. */
function pageOf(search: RowSearch, rows: readonly LedgerRow[], otherwise: RowPosition | null): FoundRows {
  const page = rows.slice(0, search.limit);
  const last = page.at(-1);
  const next = rows.length > search.limit && last ? last : otherwise;
  const end = Number.isFinite(search.since) ? search.since : null;
  return { rows: page, next, searchedBackTo: next === null ? end : next.time, faults: [] };
}
