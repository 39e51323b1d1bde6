import type { ObjectStore } from '../../store/object-store.js';
import { HOUR, hourAt, isWhole, startOfHour } from '../hours.js';
import { mergedFolder } from '../ledger-keys.js';
import { eachHour, ledgerFolders } from '../log/log-hours.js';
import { nullIfDamaged } from '../log/merge-record.js';

/** A whole hour that may have something to merge. */
export interface HourToMerge {
  /** Folder of the hour. */
  readonly hour: string;
  /** The previous hour that has lines; null where it is not known. */
  readonly previous: string | null;
}

export interface HourSearch {
  readonly store: ObjectStore;
  /** Folder of the segments. */
  readonly folder: string;
  /** The store's time, in milliseconds since the epoch. */
  readonly now: number;
  /** The first hour to check; empty: the oldest one. */
  readonly from: string;
  /** From this hour on every hour is checked; before it only those without a record, and those whose merge may have been interrupted. */
  readonly revisitFrom: string;
}

interface LedgerHour extends HourToMerge {
  readonly isMerged: boolean;
}

const DAY = 24 * HOUR;

/** The whole hours that may have something to merge, oldest first. Takes three calls for each day. */
export async function* hoursToMerge(search: HourSearch): AsyncGenerator<HourToMerge> {
  let last: LedgerHour | null = null;
  for await (const each of hoursFrom(search)) {
    if (last !== null && isWanted(search, last, each)) yield last;
    last = each;
  }
  if (last !== null && isWanted(search, last, null)) yield last;
}

/** Hours are merged oldest first, so an hour with a record is complete when the next one has a record as well. */
function isWanted(
  { from, revisitFrom: every }: HourSearch,
  { hour, isMerged }: LedgerHour,
  next: LedgerHour | null,
): boolean {
  return hour >= from && (hour >= every || !isMerged || next?.isMerged === false);
}

async function* hoursFrom({ store, folder, now, from }: HourSearch): AsyncGenerator<LedgerHour> {
  const start = startOfHour(from);
  // The previous hour of the first one may be on the day before.
  const firstDay = Number.isNaN(start) ? '' : dayOf(hourAt(start - DAY));
  const roots = [folder, mergedFolder(folder)];
  let previous: string | null = null;
  for (const day of await ledgerFolders(store, '', roots)) {
    if (day < firstDay) continue;
    const hours = await ledgerFolders(store, day, roots).catch(nullIfDamaged);
    const merged = hours && new Set(await ledgerFolders(store, day, [mergedFolder(folder)]));
    // Which hours of an unlistable day have lines is unknown. Reading any of them reports why.
    for (const hour of hours ?? eachHour(day)) {
      if (Number.isNaN(startOfHour(hour)) || !isWhole(hour, now)) continue;
      yield { hour, previous: hours && previous, isMerged: merged?.has(hour) === true };
      previous = hours && hour;
    }
  }
}

function dayOf(hour: string): string {
  return hour.slice(0, hour.indexOf('/') + 1);
}
