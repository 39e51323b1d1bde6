import { badCursor } from './list-cursor.js';

/** Ids are ULIDs, which sort by time. */
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

/** Makes the cursor that continues a list after an id. */
export function encodeIdCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}

/** The id after which a cursor continues. Throws `request-invalid` unless `encodeIdCursor` made it. */
export function decodeIdCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!isUlid(id)) throw badCursor();
  return id;
}
