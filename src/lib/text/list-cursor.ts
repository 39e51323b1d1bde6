import { Problem } from '../../domain/problem.js';
import { parseJson } from './parse-json.js';

/** Makes the cursor that continues a list: the place of its last entry, as JSON has it. */
export function encodePlace(place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/**
 * The place in a cursor. Throws `request-invalid` unless `encodePlace` made it.
 *
 * @param read returns the place for the decoded value; null when the value is not a place
 */
export function decodePlace<Place>(
  cursor: string,
  read: (values: readonly unknown[]) => Place | null,
): Place {
  const place = read(valuesIn(cursor));
  if (place === null) throw badCursor();
  return place;
}

function valuesIn(cursor: string): readonly unknown[] {
  const values = parseJson(Buffer.from(cursor, 'base64url').toString());
  return Array.isArray(values) ? values : [];
}

export function badCursor(): Problem {
  return new Problem('request-invalid', 'The cursor is not one this API gave out.');
}
