import { isInScope, type SourceScope } from '../../domain/rights.js';
import { withUnread } from '../../index/index-extent.js';
import type { LedgerView } from '../../index/ledger-view.js';
import type { FoundLines, PlacedEntry } from '../../index/questions/find-deliveries.js';
import { encodeCursor } from '../../index/questions/line-cursor.js';
import { decodePlace, encodePlace } from '../../lib/text/list-cursor.js';
import type { Refusal, RefusalRing } from '../../observe/refusal-ring.js';
import type { Refusals } from '../answers/deliveries.js';

/** A rejected request, authenticated or not. */
type ListedRefusal = Refusals['refusals'][number];

export interface RefusalQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Only requests to these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Place {
  /** Unauthenticated requests received after this time were shown, and `shown` of those at it. */
  readonly at: string;
  readonly shown: number;
  /** Cursor into the ledger; null for its newest line, false after its oldest. */
  readonly ledger: string | null | false;
}

/**
 * Newest first: unauthenticated requests that this replica rejected, from memory, merged with the authenticated ones that
 * all replicas recorded in the ledger.
 */
export async function listRefusals(
  ring: Pick<RefusalRing, 'list'>,
  view: Pick<LedgerView, 'search' | 'extent'>,
  { limit, cursor, scope = null, signal }: RefusalQuery,
): Promise<Refusals> {
  const place: Place = cursor === undefined ? { at: '~', shown: 0, ledger: null } : decode(cursor);
  const listed = ring.list().filter(({ source }) => isInScope(scope, source));
  const unauthenticated = notShown(listed, place);
  const index = view.extent();
  const page =
    place.ledger === false
      ? NOTHING
      : await view.search({
          outcome: 'refused',
          limit,
          scope,
          signal,
          ...(place.ledger === null ? {} : { cursor: place.ledger }),
        });
  const merged = merge(unauthenticated, page.entries).slice(0, limit);
  const lines = merged.filter(({ authenticated }) => authenticated).length;
  const rest = unauthenticated.length - (merged.length - lines);
  const ledger = lines === page.entries.length ? (page.nextCursor ?? false) : placeAfter(page, lines, place);
  const next = ledger === false && rest === 0 ? null : encode(nextPlace(place, merged, ledger));
  return { refusals: merged, nextCursor: next, index: withUnread(index, page.unread) };
}

const NOTHING: FoundLines = { entries: [], nextCursor: null, unread: [] };

function placeAfter({ entries }: FoundLines, shown: number, place: Place): Place['ledger'] {
  const last = entries[shown - 1];
  return last === undefined ? place.ledger : encodeCursor(last.place);
}

function notShown(refusals: readonly Refusal[], { at, shown }: Place): Refusal[] {
  let skip = shown;
  return refusals.filter((refusal) => {
    if (refusal.at > at) return false;
    if (refusal.at < at) return true;
    skip -= 1;
    return skip < 0;
  });
}

/** Merges both by time; lines stay in the order of the ledger, which is that of writing. */
function merge(unauthenticated: readonly Refusal[], entries: readonly PlacedEntry[]): ListedRefusal[] {
  const merged: ListedRefusal[] = [];
  let next = 0;
  for (const entry of entries) {
    const written = new Date(entry.place.written).toISOString();
    for (
      let refusal = unauthenticated[next];
      refusal && refusal.at >= written;
      refusal = unauthenticated[next]
    ) {
      merged.push(fromRing(refusal));
      next += 1;
    }
    merged.push(fromEntry(entry));
  }
  return [...merged, ...unauthenticated.slice(next).map(fromRing)];
}

function fromRing(refusal: Refusal): ListedRefusal {
  return {
    ...refusal,
    authenticated: false,
    jobId: null,
    status: null,
    deliveryId: null,
  };
}

function fromEntry({ line }: PlacedEntry): ListedRefusal {
  return {
    at: line.receivedAt,
    source: line.source,
    clientIp: line.clientIp,
    reason: line.reason ?? '',
    cause: null,
    userAgent: null,
    peer: null,
    forwardedFor: null,
    authenticated: true,
    jobId: line.jobId,
    status: line.status,
    deliveryId: line.deliveryId,
  };
}

function nextPlace(place: Place, merged: readonly ListedRefusal[], ledger: Place['ledger']): Place {
  const unauthenticated = merged.filter(({ authenticated }) => !authenticated);
  const last = unauthenticated.at(-1);
  if (last === undefined) return { ...place, ledger };
  const same = unauthenticated.filter(({ at }) => at === last.at).length;
  return { at: last.at, shown: same + (last.at === place.at ? place.shown : 0), ledger };
}

function encode({ at, shown, ledger }: Place): string {
  return encodePlace('refusals', [at, shown, ledger]);
}

function decode(cursor: string): Place {
  return decodePlace('refusals', cursor, ([at, shown, ledger]) => {
    const ledgerIsValid = ledger === null || ledger === false || typeof ledger === 'string';
    return typeof at === 'string' && Number.isInteger(shown) && ledgerIsValid
      ? { at, shown: shown as number, ledger }
      : null;
  });
}
