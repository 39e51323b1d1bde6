import { hourFolder, LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import { startOfPartition } from '../../ledger/ledger-reader.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Folder of the hour of an instant in milliseconds, e.g. `dt=2026-03-04/hour=05/`. */
export function folderOf(time: number): string {
  return hourFolder(new Date(time).toISOString());
}

/** The begin of an hour, in milliseconds since the epoch; NaN for a foreign folder. */
export function startOf(hour: string): number {
  return startOfPartition(partitionOf(hour));
}

/** Folder of the segments of an hour. */
export function partitionOf(hour: string): string {
  return LEDGER_FOLDER + hour;
}

export function hourAfter(hour: string): string {
  return folderOf(startOf(hour) + HOUR);
}

/** `dt=2026-03-04/` */
export function dayFolderOf(hour: string): string {
  return hour.slice(0, hour.indexOf('/') + 1);
}

/** For each hour the number of compacted files that were sent, by day, so that a year takes some kilobytes. */
export interface SentFiles {
  get(hour: string): number;
  set(hour: string, files: number): void;
  document(from: string): Record<string, readonly number[]>;
}

export function createSentFiles(given: Readonly<Record<string, readonly number[]>>): SentFiles {
  const days = new Map(Object.entries(given).map(([day, hours]) => [day, [...hours]]));
  const place = (hour: string) => [dayFolderOf(hour).slice(3, -1), Number(hour.slice(-3, -1))] as const;
  return {
    get(hour) {
      const [day, index] = place(hour);
      return days.get(day)?.[index] ?? 0;
    },
    set(hour, files) {
      const [day, index] = place(hour);
      const hours = days.get(day) ?? Array<number>(24).fill(0);
      hours[index] = files;
      days.set(day, hours);
    },
    document(from) {
      const [first] = from === '' ? [''] : place(from);
      return Object.fromEntries([...days].filter(([day]) => day >= first).sort());
    },
  };
}
