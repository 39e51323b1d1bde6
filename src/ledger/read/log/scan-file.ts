import { matchesContext } from '../../context-filter.js';
import { probeOfJob } from '../../parquet/job-blooms.js';
import type { LedgerColumns } from '../../parquet/ledger-columns.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import type { LedgerFile } from '../../parquet/open-ledger-file.js';
import { entryOf, inOrder, type LogStep } from './log-entry.js';
import { endOf, type LogFilter, type LogRange, matchesFields } from './log-filter.js';
import { beforeInstant, comparePositions, type LogPosition } from './log-position.js';
import { rowGroupsOfJobs } from './row-groups-of-jobs.js';

export interface FileScan {
  /** Opens the file. Rejects with `LedgerFileError` where it is missing or damaged. */
  readonly open: () => Promise<LedgerFile>;
  readonly range: LogRange;
  readonly filter: LogFilter;
  /** Lines that are read at once, where the reader may stop after them. Default: those of a row group. */
  readonly wanted?: number | undefined;
  readonly onFault: (text: string, key: string) => void;
  /** Lines of the segments that the file covers, in place of a part that cannot be read. */
  readonly fromSegments: (range: LogRange) => AsyncIterable<LogStep>;
}

/** The matching lines of a compacted file, row group by row group. Rejects with `StoreError`. */
export async function* scanFile(scan: FileScan): AsyncGenerator<LogStep> {
  const { range, onFault } = scan;
  const groups = await groupsOf(scan).catch((error: unknown) => {
    if (!(error instanceof LedgerFileError)) throw error;
    onFault(error.message, error.key);
    return null;
  });
  if (groups === null) return yield* scan.fromSegments(range);
  for (const { file, index, first, last } of groups) {
    const rest = partOf(range, first, last);
    try {
      yield* scanGroup(scan, file, index, rest);
    } catch (error) {
      if (!(error instanceof LedgerFileError)) throw error;
      onFault(error.message, error.key);
      yield* scan.fromSegments(rest);
    }
  }
}

/** Row groups that may have lines of the range, in its order. */
async function groupsOf({ open, range, filter, onFault }: FileScan) {
  const file = await open();
  const { job } = filter.wanted;
  const indexes =
    job === undefined ? [...file.rowGroups.keys()] : await rowGroupsOfJobs(file, [probeOfJob(job)], onFault);
  const groups = indexes.flatMap((index) => {
    const { first = 0, last = 0 } = file.rowGroups[index] ?? {};
    return last < range.since || first >= endOf(range) ? [] : [{ file, index, first, last }];
  });
  return range.order === 'oldest' ? groups : groups.reverse();
}

/** The part of a range that was written from `first` to `last`. */
function partOf({ order, since, before }: LogRange, first: number, last: number): LogRange {
  const end = beforeInstant(last + 1);
  return { order, since: Math.max(since, first), before: comparePositions(end, before) < 0 ? end : before };
}

async function* scanGroup(
  { filter, wanted = Number.POSITIVE_INFINITY }: FileScan,
  file: LedgerFile,
  group: number,
  range: LogRange,
): AsyncGenerator<LogStep> {
  const { matches, end, columns } = await matchesOf(file, group, filter, range);
  for (let index = 0; index < matches.length; index += wanted) {
    const part = matches.slice(index, index + wanted).sort((a, b) => a.row - b.row);
    const lines = await file.readLines(
      group,
      part.map(({ row }) => row),
      columns,
    );
    const entries = inOrder(
      lines.map(({ line, writtenAt }) => entryOf(line, writtenAt)),
      range.order,
    );
    const isLast = index + wanted >= matches.length;
    yield { entries, at: isLast ? end : (entries.at(-1) ?? end) };
  }
  if (matches.length === 0) yield { entries: [], at: end };
}

interface Match extends LogPosition {
  readonly row: number;
}

/** The rows of a row group that match, in the order of reading, the position of the last row, and the columns that were read. */
async function matchesOf(
  file: LedgerFile,
  group: number,
  filter: LogFilter,
  { order, since, before }: LogRange,
): Promise<{
  readonly matches: Match[];
  readonly end: LogPosition;
  readonly columns: Partial<LedgerColumns>;
}> {
  const { context } = filter;
  const contextColumn = context?.value === null ? 'contextOmitted' : 'context';
  const columns = await file.readColumns(group, [
    ...(['writtenAt', 'deliveryId', 'jobId', 'source', 'region', 'status', 'outcome', 'origin'] as const),
    ...(context === null ? [] : ([contextColumn] as const)),
  ]);
  const positionOf = (row: number): LogPosition => ({
    written: columns.writtenAt[row] ?? 0,
    id: columns.deliveryId[row] ?? '',
    outcome: columns.outcome[row] ?? '',
  });
  const matches: Match[] = [];
  for (const [row, written] of columns.writtenAt.entries()) {
    const position = positionOf(row);
    if (written < since || comparePositions(position, before) >= 0) continue;
    const fields = {
      job: columns.jobId[row] ?? null,
      source: columns.source[row] ?? null,
      region: columns.region[row] ?? null,
      status: columns.status[row] ?? null,
      outcome: position.outcome,
      origin: columns.origin[row] ?? '',
    };
    if (!matchesFields(filter, fields)) continue;
    const values = () => ({
      [contextColumn]: JSON.parse(columns[contextColumn]?.[row] ?? 'null') as unknown,
    });
    if (context !== null && !matchesContext(context, values())) continue;
    matches.push({ ...position, row });
  }
  const isOldest = order === 'oldest';
  return {
    matches: isOldest ? matches : matches.reverse(),
    end: positionOf(isOldest ? columns.writtenAt.length - 1 : 0),
    columns,
  };
}
