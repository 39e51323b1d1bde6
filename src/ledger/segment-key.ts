import { startOfHour } from './hours.js';
import { LEDGER_FOLDER } from './ledger-keys.js';

/** The place of a segment in the log. The numbers of a writer begin at 1 in each hour and have no gaps. */
export interface SegmentPlace {
  /** Folder of the hour in which it was written, e.g. `dt=2026-03-04/hour=05/`. */
  readonly hour: string;
  readonly writer: string;
  readonly number: number;
}

const DIGITS = 8;

/** The last number that sorts where it belongs. A writer takes a new name after it. */
export const LAST_NUMBER = 10 ** DIGITS - 1;

/** Key of a segment: a listing is in the order of writers and their numbers. */
export function segmentKey({ hour, writer, number }: SegmentPlace): string {
  return `${LEDGER_FOLDER}${hour}${writer}~${String(number).padStart(DIGITS, '0')}.ndjson`;
}

const KEY = /^ledger\/(dt=\d{4}-\d\d-\d\d\/hour=\d\d\/)([A-Za-z0-9_-]{1,128})~(\d{8})\.ndjson$/;

/** Null for any other object. */
export function parseSegmentKey(key: string): SegmentPlace | null {
  const [, hour, writer, digits] = KEY.exec(key) ?? [];
  if (hour === undefined || writer === undefined || Number.isNaN(startOfHour(key))) return null;
  const number = Number(digits);
  return number === 0 ? null : { hour, writer, number };
}
