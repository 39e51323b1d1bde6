import type { OutboxState } from '../outbox-state.js';
import { COMPACTED_HORIZON } from './compacted-hours.js';
import { type FollowedHour, followHour, progressOf } from './followed-hour.js';
import { createSentFiles, folderOf, HOUR, type SentFiles, startOf } from './hour-folders.js';

export interface LedgerProgressOptions {
  readonly state: Pick<OutboxState, 'next' | 'hours' | 'done'>;
  /** Milliseconds from the end of an hour until no delivery of it can be running any more. */
  readonly closedAfter: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** How far the ledger was read. */
export interface LedgerProgress {
  /** Hours from this one on have not been begun. */
  next: string;
  /** Hours whose segments are followed by name. */
  readonly hours: Map<string, FollowedHour>;
  /** Closed hours, by the number of their files. */
  readonly sent: SentFiles;
  /** Closed hours whose rollups are more than were sent. */
  readonly grown: Set<string>;
  isClosed(hour: string): boolean;
  /** The hour, which is followed from now on if it was not. */
  follow(hour: string): FollowedHour;
  /** Follows an open hour by its segments alone, unless that is so already. */
  reopen(hour: string): void;
  /** @param current the first hour that segments usually appear in */
  document(current: string): Pick<OutboxState, 'next' | 'hours' | 'done'>;
}

export function createLedgerProgress({ state, closedAfter, clock }: LedgerProgressOptions): LedgerProgress {
  const hours = new Map(
    Object.entries(state.hours).map(([hour, progress]) => [hour, followHour(hour, progress)]),
  );
  const sent = createSentFiles(state.done);
  return {
    next: state.next,
    hours,
    sent,
    grown: new Set(),
    isClosed: (hour) => startOf(hour) + HOUR + closedAfter <= clock(),
    follow(hour) {
      const followed = hours.get(hour) ?? followHour(hour, undefined, sent.get(hour));
      hours.set(hour, followed);
      return followed;
    },
    // The record of a followed hour holds all names that were read, those of compacted files as well.
    reopen(hour) {
      const followed = hours.get(hour);
      if (followed === undefined || followed.files > 0 || followed.row > 0) hours.set(hour, followHour(hour));
    },
    document(current) {
      const documents = [...hours].map(([hour, each]) => [hour, progressOf(each, hour >= current)] as const);
      return {
        next: this.next,
        hours: Object.fromEntries(documents),
        done: sent.document(folderOf(clock() - COMPACTED_HORIZON)),
      };
    },
  };
}
