import { LedgerFileError } from '../../ledger/compact/ledger-file-error.js';
import { ROLLUPS_FOLDER } from '../../ledger/ledger-keys.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { OutboxState } from '../outbox-state.js';
import { firstHour } from './beginning-of.js';
import { listNewNames, needsComparison } from './followed-hour.js';
import { hasPassed } from './has-passed.js';
import { DAY, dayFolderOf, folderOf, hourAfter, startOf } from './hour-folders.js';
import { createHourSweep } from './hour-sweep.js';
import { createLedgerProgress } from './ledger-progress.js';
import { createSegmentReader } from './segment-reader.js';
import { type HourSending, sendClosedHour, sendUnreadOfOpenHour } from './send-closed-hour.js';

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

export function createLedgerFollower(options: FollowerOptions): LedgerFollower {
  const { store, closedAfter, clock, onFault, state } = options;
  const since = Date.parse(state.since);
  const progress = createLedgerProgress(options);
  const { hours, sent, isClosed } = progress;
  let othersAt = Number.NEGATIVE_INFINITY;
  let lookedAt = clock();
  let position: number | null = since;
  let existing: { readonly day: string; readonly hours: ReadonlySet<string> } | null = null;

  const readSegments = createSegmentReader({
    ...options,
    since,
    onPosition(time) {
      position = time;
    },
  });
  const sending: HourSending = { ...options, readSegments };
  const sweep = createHourSweep({
    ...{ store, progress, since, clock, close },
    first: firstHour(since, closedAfter),
    onOpenHour(hour) {
      progress.follow(hour);
      othersAt = Number.NEGATIVE_INFINITY;
    },
  });

  /** A damaged file keeps its hour open, and no other. */
  async function close(hour: string, listsSegments = true): Promise<void> {
    const followed = progress.follow(hour);
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
    progress.grown.delete(hour);
  }

  async function closeHours(): Promise<void> {
    for (const hour of [...hours.keys()].sort()) {
      if (hour >= progress.next || !isClosed(hour)) continue;
      const comparedAt = hours.get(hour)?.comparedAt ?? null;
      const isDue = comparedAt === null || progress.grown.has(hour) || hasPassed(DAY, comparedAt, clock());
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
    while (progress.next <= last) {
      const hour = progress.next;
      if (!isClosed(hour)) progress.follow(hour);
      else if (hours.has(hour) || (await existingHours(hour)).has(hour)) await close(hour);
      progress.next = hourAfter(hour);
    }
    existing = null;
  }

  async function readOpenHours(): Promise<boolean> {
    const now = clock();
    const usual = new Set([now - USUAL_DELAY, now, now + MINUTE].map(folderOf));
    const withOthers = hasPassed(MINUTE, othersAt, clock());
    let found = 0;
    // A clock that is set back comes to hours that were left already.
    for (const hour of usual) if (!isClosed(hour)) progress.reopen(hour);
    for (const hour of [...hours.keys()].sort()) {
      if (!isClosed(hour)) progress.reopen(hour);
      const followed = hours.get(hour);
      if (followed === undefined || isClosed(hour) || !(withOthers || usual.has(hour))) continue;
      const names = await listNewNames(store, followed, now);
      found += names.length;
      await readSegments(followed, names);
      if (!needsComparison(followed, now)) continue;
      await sendUnreadOfOpenHour(sending, followed);
      followed.comparedOpenAt = now;
    }
    if (withOthers) othersAt = now;
    return found > 0;
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
    position: () => position ?? (hasPassed(MINUTE, lookedAt, clock()) ? Math.min(lookedAt, clock()) : null),
    progress: () => progress.document(folderOf(clock() - USUAL_DELAY)),
  };
}
