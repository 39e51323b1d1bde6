import { decodePlace, encodePlace } from './list-cursor.js';

/** Ids are ULIDs, which sort by time. */
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

/** Makes the cursor that continues a list after an id. */
export function encodeIdCursor(list: string, id: string): string {
  return encodePlace(list, [id]);
}

/** The id after which a cursor continues. Throws `request-invalid` unless `encodeIdCursor` made it for this list. */
export function decodeIdCursor(list: string, cursor: string): string {
  return decodePlace(list, cursor, ([id]) => (typeof id === 'string' && isUlid(id) ? id : null));
}
