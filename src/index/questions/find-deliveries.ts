import { isDelivery, type LedgerLine } from '../../domain/delivery.js';
import { Problem } from '../../domain/problem.js';
import { type LinesAt, type PlacedLine, readLinesAt } from '../../ledger/log/read-lines-at.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import { type DeliveryQuery, lineQueryOf } from './delivery-query.js';
import { encodeCursor } from './line-cursor.js';

export interface QuestionParts {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
}

/** A line and its place in the log. */
export interface PlacedEntry {
  readonly place: PlacedLine;
  readonly line: LedgerLine;
}

/** The lines of a page, newest first, and the cursor of the next one; null when nothing is left. */
export interface FoundLines {
  /** Lines that the index has and the log does not any more: they are not among the entries. */
  readonly unread: LinesAt['unread'];
  readonly entries: readonly PlacedEntry[];
  readonly nextCursor: string | null;
}

/** Rejects with `Problem` `request-invalid`, `StoreError` and `IndexError`. */
export function findDeliveries(parts: QuestionParts, query: DeliveryQuery): Promise<FoundLines> {
  return findPage(parts, query, lineQueryOf(query));
}

const REMEDY = 'repair the ledger, or choose a time without them.';
/** Lines of a page that `allDeliveries` reads. */
const PAGE = 500;

/** All matching lines of deliveries, page by page. Rejects with `Problem` `conflict` where some cannot be read any more. */
export async function* allDeliveries(
  parts: QuestionParts,
  query: Omit<DeliveryQuery, 'limit' | 'cursor'>,
): AsyncGenerator<readonly LedgerLine[]> {
  let cursor: string | undefined;
  do {
    const page = { ...query, limit: PAGE, cursor };
    const { entries, nextCursor, unread } = await findPage(parts, page, lineQueryOf(page, isDelivery));
    const [first] = unread;
    if (first !== undefined)
      throw new Problem('conflict', `Lines of ${first.key} cannot be read any more: ${REMEDY}`);
    yield entries.map(({ line }) => line);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
}

async function findPage(
  { store, index }: QuestionParts,
  { signal }: DeliveryQuery,
  query: ReturnType<typeof lineQueryOf>,
): Promise<FoundLines> {
  // One more than the page holds shows whether there is a next page.
  const found = await index.call('findLines', { ...query, limit: query.limit + 1 });
  const places = found.slice(0, query.limit);
  const { lines, unread } = await readLinesAt(store, places, signal);
  const last = places.at(-1);
  return {
    entries: places.flatMap((place, at) => {
      const line = lines[at];
      return line ? [{ place, line }] : [];
    }),
    unread,
    nextCursor: last !== undefined && found.length > places.length ? encodeCursor(last) : null,
  };
}
