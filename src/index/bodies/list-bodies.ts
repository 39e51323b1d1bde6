import type { LedgerLine } from '../../domain/delivery.js';
import type { QuarantineState } from '../../domain/quarantined-body.js';
import { type LinesAt, type PlacedLine, readLinesAt } from '../../ledger/log/read-lines-at.js';
import { decodeIdCursor, encodeIdCursor } from '../../lib/text/id-cursor.js';
import { pageOf } from '../../lib/text/list-cursor.js';
import type { QuestionParts } from '../questions/find-deliveries.js';
import type { BodyQuery } from './find-bodies.js';

export interface BodiesQuery extends Omit<BodyQuery, 'before'> {
  readonly cursor?: string | undefined;
  /** Aborts the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A quarantined body with its lines; null for a line that the log no longer has. */
export interface LedgerBody {
  readonly deliveryId: string;
  readonly state: QuarantineState;
  readonly line: LedgerLine | null;
  readonly release: LedgerLine | null;
  readonly settlement: LedgerLine | null;
}

export interface FoundBodies {
  readonly bodies: readonly LedgerBody[];
  readonly nextCursor: string | null;
  readonly unread: LinesAt['unread'];
}

/** One body; null when the index has no line of it. */
export async function bodyOf(
  view: { bodies(query: BodiesQuery): Promise<Pick<FoundBodies, 'bodies'>> },
  delivery: string,
): Promise<LedgerBody | null> {
  const { bodies } = await view.bodies({ delivery, limit: 1 });
  return bodies[0] ?? null;
}

/** Quarantined bodies, newest first. Rejects with `Problem` `request-invalid` for a foreign cursor, `StoreError` and `IndexError`. */
export async function listBodies(
  { store, index }: QuestionParts,
  { cursor, signal, ...query }: BodiesQuery,
): Promise<FoundBodies> {
  const before = cursor === undefined ? undefined : decodeIdCursor('quarantine', cursor);
  const found = await index.call('findBodies', { ...query, before, limit: query.limit + 1 });
  const { rows: page, nextCursor } = pageOf(found, query.limit, ({ delivery }) =>
    encodeIdCursor('quarantine', delivery),
  );
  const places = page.flatMap(({ line, released, settled }) => [line, released, settled]);
  const known = places.filter((place): place is PlacedLine => place !== null);
  const { lines, unread } = await readLinesAt(store, known, signal);
  const lineAt = (place: PlacedLine | null) => (place && lines[known.indexOf(place)]) ?? null;
  return {
    bodies: page.map(({ delivery, state, line, released, settled }) => ({
      deliveryId: delivery,
      state,
      line: lineAt(line),
      release: lineAt(released),
      settlement: lineAt(settled),
    })),
    nextCursor,
    unread,
  };
}
