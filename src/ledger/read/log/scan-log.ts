import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR, startOfHour } from '../../hours.js';
import { LEDGER_FOLDER } from '../../ledger-keys.js';
import { hoursInOrder } from '../../log/log-hours.js';
import { probeOfJob } from '../../parquet/job-blooms.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { readAhead } from '../../read-ahead.js';
import type { CompactedHours, DescribedHour, HourFile } from './compacted-hours.js';
import type { LogEntry, LogScan, LogStep } from './log-entry.js';
import { endOf, type LogFilter, type LogRange, mayMatch } from './log-filter.js';
import { beforeInstant, comparePositions, type LogPosition } from './log-position.js';
import { mergeScans } from './merge-scans.js';
import { scanFile } from './scan-file.js';
import { scanSegments } from './scan-segments.js';

export interface LogSearch {
  readonly range: LogRange;
  readonly filter: LogFilter;
  /** Lines that are read at once, where the reader may stop after them. Default: those of a row group. */
  readonly wanted?: number | undefined;
  /** Ends the scan, which then throws its reason and begins no further read. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with what is damaged or missing, so that lines may be.
   *
   * @param key the object, or the folder of its hour
   */
  readonly onFault: (text: string, key: string) => void;
  /** Called with lines that cannot be parsed, or are of a newer version. */
  readonly onSkipped: (key: string, lines: { readonly broken: number; readonly newer: number }) => void;
}

/** Hours that a search for rare lines prepares at once. */
const HOURS_AHEAD = 8;

/**
 * The one reader of the ledger: the matching lines of a range in the order of writing, hour by hour, from compacted files or, where an
 * hour has none, from its segments. It reads as far as its steps are taken; each says how far it came. Rejects with `StoreError`.
 */
export async function* scanLog(
  store: ObjectStore,
  compacted: CompactedHours,
  search: LogSearch,
): AsyncGenerator<LogStep> {
  const { range, filter, signal } = search;
  const { order, since } = range;
  const ahead = Object.keys(filter.wanted).length > 0 ? HOURS_AHEAD : 2;
  const hours = readAhead(hoursInOrder(store, order, since, endOf(range) - 1), ahead, async (hour) => {
    signal?.throwIfAborted();
    const described = await compacted.of(hour);
    return { ...described, files: described.files && (await filesFor(filter, described.files)) };
  });
  let last: LogPosition | null = null;
  let newer: DescribedHour | null = null;
  for await (const described of hours) {
    const { hour, files, faults } = described;
    const lost =
      order === 'oldest' ? lostBetween(newer?.hour, described.previous) : lostBetween(hour, newer?.previous);
    newer = described;
    if (lost !== null) search.onFault(`${LEDGER_FOLDER}${lost}, which is missing`, LEDGER_FOLDER + lost);
    for (const { message, key } of faults) search.onFault(message, key);
    const steps = files === null ? segmentsOf(store, search, hour) : filesOf(store, search, hour, files);
    for await (const step of steps) {
      signal?.throwIfAborted();
      const entries: LogEntry[] = step.entries.filter((entry) => isAfter(entry, last));
      last = entries.at(-1) ?? last;
      yield { entries, at: step.at };
    }
    const start = startOfHour(hour);
    yield { entries: [], at: beforeInstant(order === 'oldest' ? start + HOUR : start) };
  }

  /** Row groups and segments that stand in for a damaged one can have lines of the same instant. */
  function isAfter(entry: LogPosition, other: LogPosition | null): boolean {
    const compared = other === null ? 0 : comparePositions(entry, other);
    return other === null || (order === 'oldest' ? compared > 0 : compared < 0);
  }
}

/** The hour that a rollup names as the one before its own, where that is later than the one that was found. */
function lostBetween(found: string | undefined, named: string | null | undefined): string | null {
  return found !== undefined && typeof named === 'string' && found < named ? named : null;
}

/** The files that may have lines that match: the bloom filters of several hours are read at once. */
async function filesFor(filter: LogFilter, files: readonly HourFile[]): Promise<HourFile[]> {
  const { job } = filter.wanted;
  const may = files.map(async (file) => {
    if (!mayMatch(filter, file.groups)) return false;
    if (job === undefined) return true;
    try {
      return (await (await file.open()).rowGroupsOfJobs([probeOfJob(job)])).length > 0;
    } catch (error) {
      if (error instanceof LedgerFileError) return true;
      throw error;
    }
  });
  const flags = await Promise.all(may);
  return files.filter((_file, index) => flags[index]);
}

function segmentsOf(store: ObjectStore, search: LogSearch, hour: string): AsyncGenerator<LogStep> {
  return scanSegments({ ...search, store, hour, only: null });
}

function filesOf(
  store: ObjectStore,
  search: LogSearch,
  hour: string,
  files: readonly HourFile[],
): AsyncGenerator<LogStep> {
  const { range } = search;
  const scans = files
    .filter(({ first, last }) => last >= range.since && first < endOf(range))
    .map((file): LogScan => {
      const fromSegments = (part: LogRange) =>
        scanSegments({ ...search, store, hour, range: part, only: file.covers });
      const steps = scanFile({ ...search, open: file.open, fromSegments });
      return { begin: beforeInstant(range.order === 'oldest' ? file.first : file.last + 1), steps };
    });
  return mergeScans(scans, range.order);
}
