import type { RowSearch } from './delivery-query.js';
import type { LedgerHistory } from './ledger-history.js';
import type { LedgerRow } from './ledger-row.js';
import { beforeInstant, comparePositions, type RowPosition } from './row-position.js';
import type { RowWindow } from './row-window.js';

/** Rows of one page, and where the next one begins; null when there is nothing older. */
export interface FoundRows {
  readonly rows: readonly LedgerRow[];
  readonly next: RowPosition | null;
}

export interface SearchGround {
  readonly window: RowWindow;
  readonly history: LedgerHistory;
  /** From this instant on the window holds everything. */
  completeSince(): number;
  /** Settles when more is loaded; null when nothing more will be. */
  moreLoaded(): Promise<void> | null;
}

/** Segments one query may read from the store; a page that needs more ends early and gives a cursor. */
const MAX_SEGMENTS = 600;

/**
 * Newest first: the window as far as it is complete, waiting for the first load where that is not far enough;
 * then, for who asked for it, older hours from the store.
 */
export async function searchRows(ground: SearchGround, search: RowSearch): Promise<FoundRows> {
  let held = searchWindow(ground, search);
  for (let more = ground.moreLoaded(); more && wantsMore(ground, search, held); more = ground.moreLoaded()) {
    await more;
    held = searchWindow(ground, search);
  }
  if (!wantsMore(ground, search, held)) return pageOf(search, held, null);

  const edge = beforeInstant(ground.completeSince());
  // A page may begin among lines of the very instant the window begins at: those the window has shown already.
  const older = comparePositions(search.start, edge) > 0 ? edge : search.start;
  if (!search.explicit && older === edge) {
    return pageOf(search, held, (await ground.history.hasBefore(edge.time)) ? edge : null);
  }
  return searchHistory(ground, search, held, older);
}

function wantsMore(ground: SearchGround, search: RowSearch, held: readonly LedgerRow[]): boolean {
  return held.length <= search.limit && ground.completeSince() > search.since;
}

/** One row more than the page holds tells whether there is a next page. */
function searchWindow(ground: SearchGround, search: RowSearch): LedgerRow[] {
  const found: LedgerRow[] = [];
  const oldest = Math.max(search.since, ground.completeSince());
  for (const { rows, count } of ground.window.hoursBefore(search.start)) {
    for (let index = count - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (!row || row.time < oldest || found.length > search.limit) return found;
      if (search.matches(row)) found.push(row);
    }
  }
  return found;
}

async function searchHistory(
  ground: SearchGround,
  search: RowSearch,
  held: readonly LedgerRow[],
  from: RowPosition,
): Promise<FoundRows> {
  const rows = [...held];
  let read = 0;
  for await (const hour of ground.history.hoursBefore(from, search.since)) {
    for (const row of hour.rows.toReversed()) {
      if (rows.length > search.limit || row.time < search.since) break;
      if (comparePositions(row, from) < 0 && search.matches(row)) rows.push(row);
    }
    if (rows.length > search.limit) break;
    read += hour.read;
    if (read >= MAX_SEGMENTS) return pageOf(search, rows, beforeInstant(hour.start));
  }
  return pageOf(search, rows, null);
}

/** The extra row only tells that there is more: the next page begins after the last row shown. */
function pageOf(search: RowSearch, rows: readonly LedgerRow[], otherwise: RowPosition | null): FoundRows {
  const page = rows.slice(0, search.limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > search.limit && last ? last : otherwise };
}
