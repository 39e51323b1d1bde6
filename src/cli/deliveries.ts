import { Command } from 'commander';
import { type CsvLine, csvLine, deliveriesCsv } from '../domain/deliveries-csv.js';
import { isAccess, type LedgerLine } from '../domain/delivery.js';
import { LINE_FILTER_NAMES } from '../domain/line-filters.js';
import { reasonInWords } from '../domain/reasons.js';
import { extentStart, type IndexExtent, notIndexedInWords, type TimeWindow } from '../index/index-extent.js';
import type { DeliveryPage, LedgerView } from '../index/ledger-view.js';
import { rejectUnknownNames } from '../index/questions/filter-names.js';
import type { DeliveryQuery } from '../index/questions/find-deliveries.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJsonList, printLines, printNotes } from './shared/format/print.js';
import type { Progress } from './shared/format/progress.js';
import { standardOutput } from './shared/format/standard-output.js';
import { type TextColumn, textTable } from './shared/format/text-table.js';
import { type LedgerWork, withLedger } from './shared/on-store/with-ledger.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { readUpTo } from './shared/options/read-number.js';
import { readTime } from './shared/options/read-time.js';
import { withFilters } from './shared/options/with-filters.js';

interface Options extends Omit<DeliveryQuery, 'job' | 'since' | 'until' | 'without' | 'only'> {
  readonly job?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly acts?: true;
  readonly onlyActs?: true;
  readonly limit?: number;
  readonly csv?: true;
  readonly json?: true;
}

/** Lines per page of the view. */
const PAGE = 500;
/** Default number of lines of a table. */
const SHOWN = 50;
/** Bounds an export, because CSV lines stay in memory until the names of all contexts are known. */
const MOST_LINES = 1_000_000;

export function createCommand(): Command {
  const command = new Command('deliveries').option('--job <id>', 'only of this job');
  return withFilters(command, LINE_FILTER_NAMES)
    .option('--context <name=value>', 'only with this context')
    .option('--context-omitted <name>', 'only where the value of this name was left out of the context')
    .option('--since <time>', 'received since: 48h, 7d, or a time with its zone', readTime('--since'))
    .option('--until <time>', 'received before', readTime('--until'))
    .option('--acts', 'also what operators did')
    .option('--only-acts', 'only what operators did, accesses included')
    .option(
      '--limit <number>',
      `lines to list; default: ${SHOWN}, and all with --csv or --json`,
      readUpTo(MOST_LINES),
    )
    .option('--csv', 'print all that match as CSV with a header')
    .option('--json', 'print all that match as one JSON document')
    .action(async (options: Options) => {
      checkJobs(options.job === undefined ? [] : [options.job]);
      if (options.csv && options.json) throw new UsageError('--csv and --json exclude each other');
      await withLedger((work) => list(work, options), { since: options.since });
    });
}

async function list(work: LedgerWork, options: Options): Promise<void> {
  const { view, progress } = work;
  const query = queryOf(options);
  progress.show('reading the ledger');
  await view.refresh();
  await rejectUnknownNames(query, filterNamesOf(work.config), view);
  await print(linesOf(view, query, limitOf(options)), progress, options);
}

function queryOf(options: Options): DeliveryQuery {
  const { since, until, acts, onlyActs, limit, csv, json, ...filters } = options;
  return {
    ...filters,
    since: since?.toISOString(),
    until: until?.toISOString(),
    without: acts || onlyActs ? undefined : 'acts',
    only: onlyActs ? 'acts' : undefined,
  };
}

function limitOf({ limit, csv, json }: Options): number {
  return limit ?? (csv || json ? MOST_LINES : SHOWN);
}

interface SearchEnd {
  /** Whether older lines match as well. */
  readonly isCut: boolean;
  readonly index: IndexExtent;
}

/** Matching lines, newest first, page by page. */
async function* linesOf(
  view: LedgerView,
  query: DeliveryQuery,
  limit: number,
): AsyncGenerator<readonly LedgerLine[], SearchEnd> {
  let left = limit;
  let page: DeliveryPage;
  let cursor: string | undefined;
  const missing = new Map<string, IndexExtent['missing'][number]>();
  do {
    page = await view.deliveries({ ...query, limit: Math.min(PAGE, left), cursor });
    for (const each of page.index.missing) missing.set(each.key, each);
    left -= page.deliveries.length;
    cursor = page.nextCursor ?? undefined;
    yield page.deliveries;
  } while (cursor !== undefined && left > 0);
  return { isCut: cursor !== undefined, index: { ...page.index, missing: [...missing.values()] } };
}

const NOT_RECORDED =
  'requests that were refused without a valid credential are not among these: `transcript-receiver summary --by cause` counts them';

type Search = ReturnType<typeof linesOf>;

async function print(search: Search, progress: Progress, options: Options): Promise<void> {
  const { csv, json } = options;
  const printText = csv ? printAsCsv : printAsTable;
  const { isCut, index } = await (json ? printAsJson : printText)(search, progress);
  const isExport = Boolean(csv || json);
  // For a truncated table, lines before the index do not matter.
  const asked = {
    since: isCut ? extentStart(index) : options.since?.getTime(),
    until: options.until?.getTime(),
  };
  const gap = notIndexedInWords(index, asked);
  if (isExport ? isCut || gap !== null : hasGap(index, asked)) process.exitCode = EXIT.incomplete;
  printNotes(
    ...(isCut ? [cutNote(options)] : []),
    ...(gap === null ? [] : [gap]),
    ...(options.outcome === 'refused' && !isExport ? [NOT_RECORDED] : []),
  );
}

/** Whether the index has a gap in the range of a table, which without `--since` begins where the index does. */
function hasGap(index: IndexExtent, { since = extentStart(index) }: TimeWindow): boolean {
  return notIndexedInWords(index, { since }) !== null;
}

function cutNote(options: Options): string {
  const limit = limitOf(options);
  if (!options.csv && !options.json)
    return `older deliveries match as well: raise --limit above ${limit}, or set --until`;
  const remedy =
    options.limit === undefined ? 'export shorter times with --since and --until' : 'leave --limit out';
  return `the export is not whole: more than ${limit} deliveries match; ${remedy}`;
}

async function printAsTable(search: Search, progress: Progress): Promise<SearchEnd> {
  const { lines, end } = await collect(search, (line) => line);
  progress.end();
  printLines(lines.length === 0 ? ['No delivery matches.'] : textTable(COLUMNS, lines));
  return end;
}

/** The header comes first, and every name of a context is a column. */
async function printAsCsv(search: Search, progress: Progress): Promise<SearchEnd> {
  const { lines, end } = await collect<CsvLine>(search, csvLine);
  progress.end();
  standardOutput.write(deliveriesCsv(lines));
  return end;
}

async function printAsJson(search: Search, progress: Progress): Promise<SearchEnd> {
  const list = printJsonList('deliveries');
  for (;;) {
    const { value, done } = await search.next();
    progress.end();
    if (!done) {
      await list.add(value);
      continue;
    }
    await list.end({ index: value.index });
    return value;
  }
}

async function collect<T>(
  search: Search,
  pick: (line: LedgerLine) => T,
): Promise<{ readonly lines: readonly T[]; readonly end: SearchEnd }> {
  const lines: T[] = [];
  for (;;) {
    const { value, done } = await search.next();
    if (done) return { lines, end: value };
    for (const line of value) lines.push(pick(line));
  }
}

const COLUMNS: readonly TextColumn<LedgerLine>[] = [
  ['RECEIVED', 24, ({ receivedAt }) => receivedAt],
  ['OUTCOME', 13, ({ outcome }) => outcome],
  ['ORIGIN', 9, ({ origin }) => origin],
  ['SOURCE', 10, ({ source }) => source ?? '-'],
  ['STATUS', 11, ({ status }) => status ?? '-'],
  ['JOB', 24, ({ jobId }) => jobId ?? '-'],
  ['REASON', 0, whyOf],
];

function whyOf(line: LedgerLine): string {
  const { actor, clientIp, reason } = line;
  const from = isAccess(line) && clientIp !== null ? ` from ${clientIp}` : '';
  const by = actor === undefined ? null : `by ${actor}${from}`;
  return [by, reasonInWords(reason)].filter(Boolean).join(': ') || '-';
}
