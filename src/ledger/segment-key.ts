import { startOfHour } from './hours.js';
import { LEDGER_FOLDER, sentFolder } from './ledger-keys.js';

/** The place of a segment in the log. The numbers of a writer begin at 1 in each hour and have no gaps. */
export interface SegmentPlace {
  /** Folder of the hour in which it was written, e.g. `dt=2026-03-04/hour=05/`. */
  readonly hour: string;
  /** In sent records with the subscriber's name before it, as in `crm/01K…-replica`. */
  readonly writer: string;
  readonly number: number;
}

const DIGITS = 8;

/** The highest number that sorts correctly. A writer takes a new name after it. */
export const LAST_NUMBER = 10 ** DIGITS - 1;

/** Key of a segment: a listing is in the order of writers and their numbers. */
export function segmentKey({ hour, writer, number }: SegmentPlace): string {
  const name = writer.slice(writer.indexOf('/') + 1);
  return `${folderOfWriter(writer)}${hour}${name}~${String(number).padStart(DIGITS, '0')}.ndjson`;
}

/** Folder of the hours that a writer writes to. */
export function folderOfWriter(writer: string): string {
  const subscriber = subscriberOf(writer);
  return subscriber === null ? LEDGER_FOLDER : sentFolder(subscriber);
}

/** The subscriber of a writer of sent records; null for a writer of the ledger. */
export function subscriberOf(writer: string): string | null {
  const end = writer.indexOf('/');
  return end < 0 ? null : writer.slice(0, end);
}

const KEY =
  /^(?:ledger|outbox\/([a-z0-9-]{1,63})\/sent)\/(dt=\d{4}-\d\d-\d\d\/hour=\d\d\/)([A-Za-z0-9_-]{1,128})~(\d{8})\.ndjson$/;

/** Null for any other object. */
export function parseSegmentKey(key: string): SegmentPlace | null {
  const [, subscriber, hour, name, digits] = KEY.exec(key) ?? [];
  if (hour === undefined || name === undefined || Number.isNaN(startOfHour(key))) return null;
  const number = Number(digits);
  const writer = subscriber === undefined ? name : `${subscriber}/${name}`;
  return number === 0 ? null : { hour, writer, number };
}
