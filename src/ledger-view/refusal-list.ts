import type { LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import type { Refusal, RefusalRing } from '../observe/refusal-ring.js';
import type { DeliveryPage, LedgerView } from './ledger-view.js';
import { encodeCursor } from './row-position.js';

/** A refused request, by a stranger or by someone who authenticated. */
export interface ListedRefusal extends Refusal {
  readonly authenticated: boolean;
  readonly jobId: string | null;
  readonly status: string | null;
  readonly deliveryId: string | null;
}

export interface RefusalPage {
  readonly refusals: readonly ListedRefusal[];
  readonly nextCursor: string | null;
}

interface Place {
  /** Strangers received later than this were shown; of this very instant so many. */
  readonly at: string;
  readonly shown: number;
  /** Where the ledger goes on; null from its beginning, false when it is done. */
  readonly ledger: string | null | false;
}

/**
 * Newest first: strangers this replica refused, out of memory, together with the authenticated refusals that
 * all replicas wrote into the ledger.
 */
export async function listRefusals(
  ring: Pick<RefusalRing, 'list'>,
  view: Pick<LedgerView, 'deliveries'>,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<RefusalPage> {
  const place: Place = cursor === undefined ? { at: '~', shown: 0, ledger: null } : decode(cursor);
  const strangers = after(ring.list(), place);
  const page =
    place.ledger === false
      ? { deliveries: [], nextCursor: null }
      : await view.deliveries({
          outcome: 'refused',
          limit,
          ...(place.ledger === null ? {} : { cursor: place.ledger }),
        });
  const merged = merge(strangers.map(fromRing), page.deliveries.map(fromLine)).slice(0, limit);
  const lines = merged.filter(({ authenticated }) => authenticated).length;
  const rest = strangers.length - (merged.length - lines);
  const ledger =
    lines === page.deliveries.length ? (page.nextCursor ?? false) : placeAfter(page, lines, place);
  const next = ledger === false && rest === 0 ? null : encode(nextPlace(place, merged, ledger));
  return { refusals: merged, nextCursor: next };
}

function placeAfter({ deliveries }: DeliveryPage, shown: number, place: Place): Place['ledger'] {
  const last = deliveries[shown - 1];
  return last === undefined ? place.ledger : encodeCursor(positionOf(last));
}

function after(refusals: readonly Refusal[], { at, shown }: Place): Refusal[] {
  let skip = shown;
  return refusals.filter((refusal) => {
    if (refusal.at > at) return false;
    if (refusal.at < at) return true;
    skip -= 1;
    return skip < 0;
  });
}

function merge(strangers: readonly ListedRefusal[], lines: readonly ListedRefusal[]): ListedRefusal[] {
  return [...strangers, ...lines].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
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

function fromLine(line: LedgerLine): ListedRefusal {
  return {
    at: line.receivedAt,
    source: line.source,
    clientIp: line.clientIp,
    reason: line.reason ?? '',
    userAgent: null,
    peer: null,
    forwardedFor: null,
    authenticated: true,
    jobId: line.jobId,
    status: line.status,
    deliveryId: line.deliveryId,
  };
}

function positionOf({ receivedAt, deliveryId, outcome }: LedgerLine) {
  return { time: Date.parse(receivedAt), id: deliveryId, outcome };
}

function nextPlace(place: Place, merged: readonly ListedRefusal[], ledger: Place['ledger']): Place {
  const strangers = merged.filter(({ authenticated }) => !authenticated);
  const last = strangers.at(-1);
  if (last === undefined) return { ...place, ledger };
  const same = strangers.filter(({ at }) => at === last.at).length;
  return { at: last.at, shown: same + (last.at === place.at ? place.shown : 0), ledger };
}

function encode(place: Place): string {
  return Buffer.from(JSON.stringify([place.at, place.shown, place.ledger])).toString('base64url');
}

function decode(cursor: string): Place {
  try {
    const [at, shown, ledger] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const ledgerIsValid = ledger === null || ledger === false || typeof ledger === 'string';
    if (typeof at === 'string' && Number.isInteger(shown) && ledgerIsValid) {
      return { at, shown: shown as number, ledger };
    }
  } catch {
    // Falls through to the one answer for every bad cursor.
  }
  throw new Problem('request-invalid', 'The cursor is not one this API gave out.');
}
