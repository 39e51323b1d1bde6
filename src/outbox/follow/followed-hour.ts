import { encodeTime } from 'ulid';
import { listPartition } from '../../ledger/ledger-reader.js';
import { segmentName, writtenAt } from '../../ledger/segment-name.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { HourProgress } from '../outbox-state.js';
import { hasPassed } from './has-passed.js';
import { partitionOf } from './hour-folders.js';
import { createSegmentRecord, EMPTY_RECORD, type SegmentRecord } from './segment-record.js';

/** An hour whose segments are followed by name. */
export interface FollowedHour {
  readonly hour: string;
  record: SegmentRecord;
  files: number;
  row: number;
  comparedAt: number | null;
  /** Segments whose events are being sent. */
  readonly reading: Set<string>;
  /** Segments with lines of a newer version: they stay unread, for a newer replica. */
  readonly postponed: Set<string>;
  /** Last name that was listed. */
  newest: string;
  /** How many names the last wide listing had, and when it was made. */
  wideNames: number;
  wideAt: number;
  /** When all names were last compared while the hour was open; null before. */
  comparedOpenAt: number | null;
}

export function followHour(hour: string, progress?: HourProgress, files = 0): FollowedHour {
  return {
    hour,
    record: createSegmentRecord(progress ?? EMPTY_RECORD),
    files: progress?.files ?? files,
    row: progress?.row ?? 0,
    comparedAt: progress?.comparedAt ?? null,
    reading: new Set(),
    postponed: new Set(),
    newest: '',
    wideNames: 0,
    wideAt: Number.NEGATIVE_INFINITY,
    comparedOpenAt: null,
  };
}

/** Names kept of an hour that segments usually appear in, and of others that can still receive some. */
const NAMES_KEPT = 400;
const NAMES_KEPT_OF_OTHERS = 32;

export function progressOf(followed: FollowedHour, isCurrent: boolean): HourProgress {
  const { record, files, row, comparedAt, reading } = followed;
  const first = [...reading].reduce<string | null>((a, b) => (a === null || b < a ? b : a), null);
  record.compress(isCurrent ? NAMES_KEPT : NAMES_KEPT_OF_OTHERS, first);
  return { files, row, comparedAt, ...record.document() };
}

const MINUTE = 60_000;
/** Segments are named by their writer's clock: those that are behind the newest by up to this are found by every listing. */
const SKEW = 3 * MINUTE;
/** Where the segments of `SKEW` are more than a page of a listing, most listings go back only this far. */
const NEAR = 15_000;
const PAGE = 1000;

/** Names of segments that are new, ascending; those far behind the newest one are found once the hour is closed. */
export async function listNewNames(
  store: ObjectStore,
  followed: FollowedHour,
  now: number,
): Promise<string[]> {
  const { record, reading, postponed, newest } = followed;
  const isWide = followed.wideNames <= PAGE || hasPassed(MINUTE, followed.wideAt, now);
  const after = nameBefore(newest, isWide ? SKEW : NEAR);
  const partition = partitionOf(followed.hour);
  const found: string[] = [];
  let listed = 0;
  let last = newest;
  for await (const key of listPartition(
    store,
    partition,
    after ? { startAfter: partition + after } : undefined,
  )) {
    const name = segmentName(key);
    listed += 1;
    if (name > last) last = name;
    if (!record.has(name) && !reading.has(name) && !postponed.has(name)) found.push(name);
  }
  followed.newest = last;
  if (isWide) {
    followed.wideNames = listed;
    followed.wideAt = now;
  }
  return found.sort();
}

/**
 * Whether names tell too little, because segments have names of a time to come: the clock of a replica was ahead. What is
 * written since then lies behind them, and is not among the newest. A sender that takes over does not know.
 */
export function needsComparison({ newest, comparedOpenAt }: FollowedHour, now: number): boolean {
  if (comparedOpenAt === null) return true;
  return (writtenAt(newest) ?? 0) > now + MINUTE && hasPassed(MINUTE, comparedOpenAt, now);
}

/** All names of an hour, ascending. */
export async function listAllNames(store: ObjectStore, hour: string): Promise<string[]> {
  const names: string[] = [];
  for await (const key of listPartition(store, partitionOf(hour))) names.push(segmentName(key));
  return names.sort();
}

/** A name from which on segments are listed that were written up to `ms` before this one; empty: from the beginning. */
function nameBefore(name: string, ms: number): string {
  const written = writtenAt(name);
  return written === null ? '' : encodeTime(Math.max(0, written - ms));
}
