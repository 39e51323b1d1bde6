import { encodeTime } from 'ulid';
import { ROLLUPS_FOLDER } from '../../archive/layout.js';
import { LedgerFileError } from '../../archive/ledger/compaction/ledger-file-error.js';
import { fetchSegment, listPartition, listPartitions } from '../../archive/ledger/ledger-reader.js';
import { readAhead } from '../../archive/ledger/read-ahead.js';
import { writtenAt } from '../../archive/ledger/segment-name.js';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import type { OutboxState } from '../outbox-state.js';
import { type FollowedHour, followHour, listNewNames, progressOf } from './followed-hour.js';
import {
  createSentFiles,
  DAY,
  dayFolderOf,
  folderOf,
  HOUR,
  hourAfter,
  partitionOf,
  startOf,
} from './hour-folders.js';
import { type HourSending, sendClosedHour } from './send-closed-hour.js';

export interface FollowerOptions extends Pick<HourSending, 'sendLines' | 'whenSettled'> {
  readonly store: ObjectStore;
  readonly state: Pick<OutboxState, 'since' | 'next' | 'hours' | 'done'>;
  /** Milliseconds from the end of an hour until no delivery of it can be running any more. */
  readonly closedAfter: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with what keeps an hour from being sent; the others continue. */
  readonly onFault: (hour: string, error: Error) => void;
}

/**
 * Reads every line of the ledger once, whenever its segment appears: open hours by their segments, closed ones by their
 * compacted files. What is read is settled by the sender; what is not settled is read again after a take-over.
 */
export interface LedgerFollower {
  /** Reads what is new. Resolves to whether something was. Throws as the store does; the next call continues. */
  look(): Promise<boolean>;
  /** From when on lines may be unread, in milliseconds since the epoch; null when everything was read a moment ago. */
  position(): number | null;
  progress(): Pick<OutboxState, 'next' | 'hours' | 'done'>;
}

const MINUTE = 60_000;
/** How far back new lines usually appear; those of longer deliveries are looked for once a minute. */
const USUAL_DELAY = 10 * MINUTE;
/** Between listings of the rollups of the last days, and of all. */
const SWEEP = 10 * MINUTE;
const SWEPT = 3 * DAY;
/** How long compacted hours are remembered; later files of older ones are not noticed. */
const COMPACTED_HORIZON = 92 * DAY;
/** How long hours without compaction are remembered. */
const HORIZON = 31 * DAY;
/** A segment that was written so long before the subscription began holds no line that ended after it. */
const CLOCK_TOLERANCE = 15 * MINUTE;
const READ_AHEAD = 8;
/** Names of an hour beyond which nothing is read before all events are settled. */
const MAX_NAMES = 1000;

/** The first hour that can hold a delivery that ended after the subscription began. */
function firstHour(since: number, closedAfter: number): string {
  return folderOf(since - closedAfter);
}

export function createLedgerFollower(options: FollowerOptions): LedgerFollower {
  const { store, closedAfter, clock, onFault, state } = options;
  const since = Date.parse(state.since);
  const first = firstHour(since, closedAfter);
  const hours = new Map(
    Object.entries(state.hours).map(([hour, progress]) => [hour, followHour(hour, progress)]),
  );
  const sent = createSentFiles(state.done);
  /** Closed hours whose rollups are more than were sent. */
  const grown = new Set<string>();
  const pause = cooperativeYield();
  let { next } = state;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let sweptAllAt = Number.NEGATIVE_INFINITY;
  let othersAt = Number.NEGATIVE_INFINITY;
  let lookedAt = clock();
  let position: number | null = since;
  let existing: { readonly day: string; readonly hours: ReadonlySet<string> } | null = null;

  const isClosed = (hour: string) => startOf(hour) + HOUR + closedAfter <= clock();
  const sending: HourSending = { ...options, readSegments };

  async function readSegments(followed: FollowedHour, names: readonly string[]): Promise<string[]> {
    const { hour, record, reading } = followed;
    const missing: string[] = [];
    const wanted = names.filter((name) => {
      const written = writtenAt(name);
      if (written === null || written >= since - CLOCK_TOLERANCE) return true;
      record.add(name);
      return false;
    });
    const partition = partitionOf(hour);
    const fetched = readAhead(wanted, READ_AHEAD, async (name) => ({
      name,
      segment: await fetchSegment(store, `${partition}${name}.ndjson`),
    }));
    for await (const { name, segment } of fetched) {
      position = writtenAt(name) ?? startOf(hour);
      if (segment === null) {
        missing.push(name);
        continue;
      }
      const { entries, newerLines } = segment.parse();
      if (newerLines.length > 0) followed.postponed.add(name);
      else reading.add(name);
      const lines = entries.map(({ line }) => line);
      await options.sendLines(hour, name, lines, () => {
        if (reading.delete(name)) record.add(name);
      });
      // One request that hangs keeps the names after it from being counted: their number has to stay bounded.
      if (record.names() > MAX_NAMES) {
        await options.whenSettled();
        record.compress(MAX_NAMES / 2);
      }
      await pause();
    }
    return missing;
  }

  function followedOf(hour: string): FollowedHour {
    const followed = hours.get(hour) ?? followHour(hour, undefined, sent.get(hour));
    hours.set(hour, followed);
    return followed;
  }

  /** A damaged file keeps its hour open, and no other. */
  async function close(hour: string, listsSegments = true): Promise<void> {
    const followed = followedOf(hour);
    position = startOf(hour);
    try {
      if (await sendClosedHour(sending, followed, listsSegments)) {
        sent.set(hour, followed.files);
        hours.delete(hour);
      }
    } catch (error) {
      if (!(error instanceof LedgerFileError)) throw error;
      onFault(hour, error);
    }
    if (hours.has(hour) && followed.reading.size === 0) followed.record.close();
    followed.comparedAt = clock();
    grown.delete(hour);
  }

  async function closeHours(): Promise<void> {
    for (const hour of [...hours.keys()].sort()) {
      if (hour >= next || !isClosed(hour)) continue;
      const comparedAt = hours.get(hour)?.comparedAt ?? null;
      const isDue = comparedAt === null || grown.has(hour) || hasPassed(DAY, comparedAt);
      if (isDue) await close(hour);
    }
  }

  /** Hours of a day that have segments or rollups. */
  async function existingHours(hour: string): Promise<ReadonlySet<string>> {
    const day = dayFolderOf(hour);
    if (existing?.day === day) return existing.hours;
    const found = new Set<string>();
    for (const root of ['ledger/', ROLLUPS_FOLDER]) {
      for await (const folder of store.folders(root + day)) found.add(folder.slice(root.length));
    }
    existing = { day, hours: found };
    return found;
  }

  async function beginHours(): Promise<void> {
    const last = folderOf(clock() + MINUTE);
    while (next <= last) {
      if (!isClosed(next)) followedOf(next);
      else if (hours.has(next) || (await existingHours(next)).has(next)) await close(next);
      next = hourAfter(next);
    }
    existing = null;
  }

  async function readOpenHours(): Promise<boolean> {
    const now = clock();
    const usual = new Set([now - USUAL_DELAY, now, now + MINUTE].map(folderOf));
    const withOthers = hasPassed(MINUTE, othersAt);
    let found = 0;
    // A clock that is set back comes to hours that were left already.
    for (const hour of usual) if (!isClosed(hour)) reopen(hour);
    for (const hour of [...hours.keys()].sort()) {
      if (!isClosed(hour)) reopen(hour);
      const followed = hours.get(hour);
      if (followed === undefined || isClosed(hour) || !(withOthers || usual.has(hour))) continue;
      const names = await listNewNames(store, followed, now);
      found += names.length;
      await readSegments(followed, names);
    }
    if (withOthers) othersAt = now;
    return found > 0;
  }

  /** The record of a followed hour holds all names that were read, those of compacted files as well. */
  function reopen(hour: string): void {
    const followed = hours.get(hour);
    if (followed === undefined || followed.files > 0 || followed.row > 0) hours.set(hour, followHour(hour));
  }

  /** The clock may have been set back. */
  function hasPassed(ms: number, since: number): boolean {
    return Math.abs(clock() - since) >= ms;
  }

  /** Finds late segments of closed hours: compaction has put them into further files. */
  async function sweep(): Promise<void> {
    const now = clock();
    if (!hasPassed(SWEEP, sweptAt)) return;
    const isWhole = hasPassed(DAY, sweptAllAt);
    const files = await listCompactedHours(store, now - (isWhole ? COMPACTED_HORIZON : SWEPT));
    for (const [hour, last] of files) {
      if (hour >= next) continue;
      const followed = hours.get(hour);
      if (followed !== undefined) {
        if (last > followed.files) grown.add(hour);
      } else if (last > sent.get(hour)) await close(hour, sent.get(hour) === 0);
    }
    if (isWhole) {
      await findForgottenHours(now);
      sweptAllAt = now;
    }
    sweptAt = now;
  }

  /**
   * Hours that had no segment when they were closed, and are not compacted; and those of replicas whose clock was wrong, also
   * hours to come.
   */
  async function findForgottenHours(now: number): Promise<void> {
    for await (const partition of listPartitions(store, { since: new Date(now - HORIZON).toISOString() })) {
      const hour = partition.slice('ledger/'.length);
      if (Number.isNaN(startOf(hour)) || hours.has(hour) || sent.get(hour) > 0) continue;
      // Most hours before the subscription have no segment that is younger than it.
      if (hour < first && !(await hasNames(partition, since - CLOCK_TOLERANCE))) continue;
      if (!isClosed(hour)) {
        hours.set(hour, followHour(hour));
        othersAt = Number.NEGATIVE_INFINITY;
      } else if (hour < next) await close(hour);
    }
    const horizon = folderOf(now - HORIZON);
    for (const hour of hours.keys()) if (hour < horizon && hour < next && isClosed(hour)) hours.delete(hour);
  }

  /** Whether a segment was written since, by its name. */
  async function hasNames(partition: string, writtenSince: number): Promise<boolean> {
    const startAfter = partition + encodeTime(writtenSince);
    for await (const _ of listPartition(store, partition, { startAfter })) return true;
    return false;
  }

  return {
    async look() {
      position ??= lookedAt;
      await closeHours();
      await beginHours();
      const found = await readOpenHours();
      await sweep();
      lookedAt = clock();
      position = null;
      return found;
    },
    position: () => position ?? (hasPassed(MINUTE, lookedAt) ? Math.min(lookedAt, clock()) : null),
    progress() {
      const current = folderOf(clock() - USUAL_DELAY);
      const documents = [...hours].map(([hour, each]) => [hour, progressOf(each, hour >= current)] as const);
      return {
        next,
        hours: Object.fromEntries(documents),
        done: sent.document(folderOf(clock() - COMPACTED_HORIZON)),
      };
    },
  };
}

/** The number of the last compacted file of each hour since an instant in milliseconds. */
async function listCompactedHours(store: ObjectStore, since: number): Promise<Map<string, number>> {
  const files = new Map<string, number>();
  for await (const { key } of store.list(ROLLUPS_FOLDER, { startAfter: ROLLUPS_FOLDER + folderOf(since) })) {
    const [, hour, n] = /^rollups\/(dt=[^/]+\/hour=\d\d\/)(\d{4,9})\.json$/.exec(key) ?? [];
    if (hour !== undefined) files.set(hour, Math.max(files.get(hour) ?? 0, Number(n)));
  }
  return files;
}

/**
 * Where a subscription begins: after the files of all hours that are compacted already. A file that is made later may hold
 * a delivery that ended since.
 */
export async function beginningOf(
  store: ObjectStore,
  since: number,
  closedAfter: number,
): Promise<Pick<OutboxState, 'next' | 'done'>> {
  const sent = createSentFiles({});
  for (const [hour, files] of await listCompactedHours(store, since - COMPACTED_HORIZON))
    sent.set(hour, files);
  return { next: firstHour(since, closedAfter), done: sent.document('') };
}

/**
 * Whether a delivery ended at or after an instant in milliseconds since the epoch. Its id counts as well: the ids of one
 * process go on when its clock is set back.
 */
export function endedSince({ deliveryId, receivedAt, durationMs }: LedgerLine, since: number): boolean {
  const duration = Number.isFinite(durationMs) ? durationMs : 0;
  return Math.max(Date.parse(receivedAt) + duration, writtenAt(deliveryId) ?? 0) >= since;
}
