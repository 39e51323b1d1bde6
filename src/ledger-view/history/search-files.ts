import { hasContextValue } from '../../domain/context.js';
import { probeOfJob } from '../../ledger/compact/job-blooms.js';
import { LedgerFileError } from '../../ledger/compact/ledger-file-error.js';
import { type LedgerFile, rowGroupsToRead } from '../../ledger/compact/open-ledger-file.js';
import type { ContextFilter } from '../context-filter.js';
import { createRowPacker, type LedgerRow } from '../ledger-row.js';
import { beforeInstant, comparePositions, type RowPosition } from '../row-position.js';
import { type CompactedFile, type CompactedFiles, mayHold } from './compacted-files.js';
import type { HourPage, HourSearch } from './take-rows.js';

/** What a search found damaged: it is begun again without these parts. */
export interface DamagedParts {
  /** Why, by the key of the file. */
  readonly reasons: Map<string, string>;
  /** Parts that cannot be read, by `nameOfPart`. */
  readonly unreadable: Set<string>;
}

/** A part of a compacted file is missing or damaged. It was noted. */
export class UnreadablePart extends Error {}

function nameOfPart(file: CompactedFile, group: number | null): string {
  return `${file.key} ${group ?? ''}`;
}

/** A file, or a row group of one that was opened. */
interface Part {
  readonly file: CompactedFile;
  readonly last: number;
  readonly group: { readonly opened: LedgerFile; readonly index: number } | null;
}

/** A row that matches, before its line is read. */
interface Match extends RowPosition {
  readonly file: CompactedFile;
  readonly opened: LedgerFile;
  readonly group: number;
  readonly row: number;
}

/**
 * Searches compacted files, which may overlap in time: row group by row group, the newest first. Throws `UnreadablePart`,
 * and `StoreError`.
 */
export async function searchFiles(
  open: CompactedFiles['open'],
  files: readonly CompactedFile[],
  options: HourSearch,
  damaged: DamagedParts,
): Promise<HourPage> {
  const { search, from, wanted, deadline } = options;
  const latest = from.time - (from.id === '' && from.outcome === '' ? 1 : 0);
  const parts: Part[] = files
    .filter((file) => mayHold(file, search) && file.first <= latest)
    .filter((file) => !damaged.unreadable.has(nameOfPart(file, null)))
    .map((file) => ({ file, last: Math.min(latest, file.last), group: null }));
  let matches: Match[] = [];
  for (;;) {
    parts.sort((a, b) => a.last - b.last);
    const part = parts.pop();
    const enough = matches[wanted - 1];
    if (part === undefined || (enough && part.last < enough.time)) break;
    const bound = beforeInstant(part.last + 1);
    if (performance.now() >= deadline && comparePositions(bound, from) < 0) {
      const sure = matches.filter((match) => comparePositions(match, bound) >= 0);
      return { rows: await readMatches(sure, damaged), next: bound };
    }
    const { file, group } = part;
    const read = guard(damaged, file, group?.index ?? null);
    if (group === null) parts.push(...(await read(() => groupsOf(open, file, options, latest, damaged))));
    else matches = merge(matches, await read(() => matchesOf(part, options)), wanted);
  }
  return { rows: await readMatches(matches, damaged), next: null };
}

/** Notes the part as unreadable when its content is damaged. */
function guard({ reasons, unreadable }: DamagedParts, file: CompactedFile, group: number | null) {
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LedgerFileError)) throw error;
      reasons.set(file.key, error.message);
      unreadable.add(nameOfPart(file, group));
      throw new UnreadablePart(error.message);
    }
  };
}

async function groupsOf(
  open: CompactedFiles['open'],
  file: CompactedFile,
  { search }: HourSearch,
  latest: number,
  { reasons, unreadable }: DamagedParts,
): Promise<Part[]> {
  const opened = await open(file);
  if (opened === null) throw new LedgerFileError(file.key, 'it is missing');
  const { job } = search.filters;
  const jobs = job === undefined ? null : [probeOfJob(job)];
  const { indexes, fault } = await rowGroupsToRead(opened, jobs);
  if (fault !== null) reasons.set(file.key, fault);
  return indexes.flatMap((index) => {
    if (unreadable.has(nameOfPart(file, index))) return [];
    const { first = 0, last = 0 } = opened.rowGroups[index] ?? {};
    if (first > latest || last < search.since) return [];
    return [{ file, last: Math.min(latest, last), group: { opened, index } }];
  });
}

const FIELDS = ['source', 'region', 'status', 'outcome', 'origin'] as const;

async function matchesOf({ file, group }: Part, { search, from }: HourSearch): Promise<Match[]> {
  if (group === null) return [];
  const { opened, index } = group;
  const { filters, context, since } = search;
  const fields = FIELDS.filter((field) => filters[field] !== undefined);
  const names = new Set(['deliveryId', 'receivedAt', 'outcome', 'source', 'origin', ...fields] as const);
  const columns = await opened.readColumns(index, [...names, 'jobId']);
  const hasContext = await contextTest(opened, index, context);
  const matches: Match[] = [];
  for (const [row, time] of columns.receivedAt.entries()) {
    const position = { time, id: columns.deliveryId[row] ?? '', outcome: columns.outcome[row] ?? '' };
    if (time < since || comparePositions(position, from) >= 0) continue;
    if (filters.job !== undefined && columns.jobId[row] !== filters.job) continue;
    if (!fields.every((field) => columns[field][row] === filters[field])) continue;
    const job = columns.jobId[row] ?? null;
    const source = columns.source[row] ?? null;
    if (!search.lists(columns.origin[row] ?? '') || !search.exists({ job, source })) continue;
    if (!hasContext(row)) continue;
    matches.push({ ...position, file, opened, group: index, row });
  }
  return matches;
}

/** A test of the rows of a row group. Versions that do not know the field have it among the fields without a column. */
async function contextTest(
  opened: LedgerFile,
  group: number,
  wanted: ContextFilter | null,
): Promise<(row: number) => boolean> {
  if (wanted === null) return () => true;
  const { name, value } = wanted;
  const { context } = await opened.readColumns(group, ['context']);
  if (context.some((json) => json !== null)) {
    return (row) => hasContextValue(JSON.parse(context[row] ?? 'null'), name, value);
  }
  const { extra } = await opened.readColumns(group, ['extra']);
  return (row) => hasContextValue(JSON.parse(extra[row] ?? '{}').context, name, value);
}

function merge(matches: readonly Match[], added: readonly Match[], wanted: number): Match[] {
  return [...matches, ...added]
    .sort((a, b) => comparePositions(b, a))
    .filter((match, index, all) => index === 0 || comparePositions(match, all[index - 1] as Match) !== 0)
    .slice(0, wanted);
}

/** The rows of matches, with their lines. */
async function readMatches(matches: readonly Match[], damaged: DamagedParts): Promise<LedgerRow[]> {
  const packRows = createRowPacker();
  const groups = new Map<string, Match[]>();
  for (const match of matches) {
    const name = `${match.file.key} ${match.group}`;
    groups.set(name, [...(groups.get(name) ?? []), match]);
  }
  const rows: LedgerRow[] = [];
  for (const together of groups.values()) {
    const [first] = together;
    if (first === undefined) continue;
    const indexes = together.map(({ row }) => row).sort((a, b) => a - b);
    const read = guard(damaged, first.file, first.group);
    const lines = await read(() => first.opened.readLines(first.group, indexes));
    rows.push(...packRows(lines.map((line) => ({ line, text: JSON.stringify(line) }))));
  }
  return rows.sort((a, b) => comparePositions(b, a));
}
