import { Command } from 'commander';
import { createRefusalCountsReader } from '../archive/read-refusal-counts.js';
import { NAMED_FILTER_NAMES } from '../domain/line-filters.js';
import type { SummaryFigures } from '../domain/summary-figures.js';
import { SUMMARY_GROUPS } from '../domain/summary-groups.js';
import { notIndexedInWords } from '../index/index-extent.js';
import { type NameFilters, rejectUnknownNames } from '../index/questions/filter-names.js';
import { findSummary, type LedgerSummary, MAX_GROUPS } from '../index/questions/find-summary.js';
import {
  FIGURE_COLUMNS,
  groupTitle,
  restInWords,
  rowInWords,
  summaryInWords,
} from '../index/summary-words.js';
import { count } from '../lib/text/plural.js';
import { summaryCsv } from './reports/summary-csv.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printLines, printNotes } from './shared/format/print.js';
import { standardOutput } from './shared/format/standard-output.js';
import { type TextColumn, textTable } from './shared/format/text-table.js';
import { type LedgerWork, withLedger } from './shared/on-store/with-ledger.js';
import { readUpTo } from './shared/options/read-number.js';
import { readTime } from './shared/options/read-time.js';
import { withFilters } from './shared/options/with-filters.js';
import { reportUnreadableStore } from './shared/report-unreadable-store.js';

interface Options extends NameFilters {
  readonly since?: Date;
  readonly until?: Date;
  readonly by?: string;
  readonly limit?: number;
  readonly csv?: true;
  readonly json?: true;
}

/** Default number of rows of a table. */
const SHOWN = 50;

export function createCommand(): Command {
  const command = new Command('summary')
    .option(
      '--since <time>',
      'written since: 48h, 7d, or a time with its zone; default: 24 hours before --until',
      readTime('--since'),
    )
    .option('--until <time>', 'written before; default: now', readTime('--until'))
    .option(
      '--by <group>',
      `group by ${SUMMARY_GROUPS.join(', ')}, or context.<name>, such as context.customer; hours and days in UTC`,
    );
  return withFilters(command, NAMED_FILTER_NAMES)
    .option('--context <name=value>', 'only with this context')
    .option(
      '--limit <number>',
      `groups to list; default: ${SHOWN}, and all with --csv or --json`,
      readUpTo(MAX_GROUPS),
    )
    .option('--csv', 'print all groups as CSV with a header')
    .option('--json', 'print one JSON document')
    .action(async (options: Options) => {
      if (options.csv && options.json) throw new UsageError('--csv and --json exclude each other');
      const summary = await withLedger((work) => summarise(work, options), { since: options.since }).catch(
        reportUnreadableStore,
      );
      if (summary !== null) print(summary, options);
    });
}

async function summarise(
  { config, store, view, signal, progress }: LedgerWork,
  options: Options,
): Promise<LedgerSummary> {
  const { since, until, by, limit, csv, json, ...filters } = options;
  progress.show('reading the ledger');
  await view.refresh();
  await view.untilComplete();
  await rejectUnknownNames({ ...filters, by }, filterNamesOf(config), view);
  return findSummary(view.calls, {
    ...filters,
    by,
    buckets: 1,
    signal,
    since: since?.toISOString(),
    until: until?.toISOString(),
    limit: limit ?? (csv || json ? MAX_GROUPS : SHOWN),
    refusedRequests: createRefusalCountsReader(store, Date.now).between,
  });
}

function print(summary: LedgerSummary, { csv, json, limit }: Options): void {
  const { total, index, rest, unrecorded } = summary;
  const asked = { since: Date.parse(summary.since), until: Math.min(Date.parse(summary.until), Date.now()) };
  const gap = notIndexedInWords(index, asked);
  const isNothing = total.lines + total.refused + total.missed === 0;
  const isAll = gap === null && unrecorded !== null;
  const isCut = rest !== null && limit === undefined && Boolean(csv || json);
  if (index.until === null) process.exitCode = EXIT.incomplete;
  else if (!isAll || isCut) process.exitCode = EXIT.unrecoverable;
  else if (isNothing) process.exitCode = EXIT.failed;
  if (gap !== null) printNotes(gap);
  if (isCut) {
    printNotes(
      `there are more than ${count(MAX_GROUPS)} groups: choose a shorter time or a filter, or set --limit; nothing was printed`,
    );
    return;
  }
  if (json) printJson(documentOf(summary));
  else if (csv) standardOutput.write(summaryCsv(summary));
  else printLines(formatSummary(summary));
}

function documentOf({ last: _, buckets: __, resolutionMs: ___, ...summary }: LedgerSummary): object {
  return summary;
}

function formatSummary(summary: LedgerSummary): string[] {
  const { by, groups, rest, since, until } = summary;
  const lines = [`From ${since} until ${until}:`, ...summaryInWords(summary).map((text) => `  ${text}`)];
  if (by === null || groups === null) return lines;
  const named = groups.map((row) => ({ ...row, name: rowInWords(by, row) }));
  const last = rest === null ? [] : [{ ...rest, source: '', name: restInWords(rest) }];
  type Row = SummaryFigures & { readonly name: string; readonly source: string | null };
  const columns: TextColumn<Row>[] = [
    [groupTitle(by).toUpperCase(), null, ({ name }) => name],
    ...(by === 'cause' ? [['SOURCE', null, ({ source }: Row) => source ?? '-'] as const] : []),
    ...FIGURE_COLUMNS.map(
      ({ title, text }) => [title.toUpperCase(), null, (row: Row) => text(row) ?? '-'] as const,
    ),
  ];
  return [...lines, '', ...textTable(columns, [...named, ...last])];
}
