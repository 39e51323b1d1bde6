import { Problem } from '../../domain/problem.js';
import { parseJson } from './parse-json.js';

/** Makes the cursor that continues a list: the list's name, so that no other one takes it, and the place of the last entry. */
export function encodePlace(list: string, place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([list, ...place])).toString('base64url');
}

/**
 * The place in a cursor. Throws `request-invalid` unless `encodePlace` made it for this list: another list's place would
 * pass over entries.
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
 * @param found one row more than the page holds, where there is one: another page follows then
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
