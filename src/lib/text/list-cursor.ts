import { Problem } from '../../domain/problem.js';
import { parseJson } from './parse-json.js';

/** Encodes the cursor that continues a list: the place of the last entry, and the list's name, so that other lists reject it. */
export function encodePlace(list: string, place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([list, ...place])).toString('base64url');
}

/**
 * Decodes the place in a cursor. Throws `request-invalid` unless `encodePlace` made it for this list: another list's place would
 * skip entries.
 *
 * @param read returns the place for the decoded value; null when the value is not a place
 */
export function decodePlace<Place>(
  list: string,
  cursor: string,
  read: (values: readonly unknown[]) => Place | null,
): Place {
  const values = valuesIn(cursor).slice(1);
  const place = encodePlace(list, values) === cursor ? read(values) : null;
  if (place === null) throw badCursor();
  return place;
}

/**
 * A page of a list.
 *
 * @param found up to one row more than the page holds; the extra row means that another page follows
 */
export function pageOf<Row>(
  found: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { readonly rows: readonly Row[]; readonly nextCursor: string | null } {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: last !== undefined && found.length > limit ? cursorOf(last) : null };
}

function valuesIn(cursor: string): readonly unknown[] {
  const values = parseJson(Buffer.from(cursor, 'base64url').toString());
  return Array.isArray(values) ? values : [];
}

function badCursor(): Problem {
  return new Problem('request-invalid', 'The cursor is not one this API gave out.');
}
