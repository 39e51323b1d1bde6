import { Command } from 'commander';
import { canAskService } from '../app/speech-options.js';
import { causeInWords, type FailureCause, isFetchable } from '../domain/failure-causes.js';
import { FAILURES } from '../domain/failure-rules.js';
import { NOTHING_CAN_BE_REFETCHED } from '../domain/next-steps.js';
import { reasonInWords } from '../domain/reasons.js';
import { notIndexedInWords } from '../index/index-extent.js';
import type { FailurePage } from '../index/ledger-view.js';
import { rejectUnknownNames } from '../index/questions/filter-names.js';
import type { FailureLine } from '../index/questions/find-open-failures.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printLines } from './shared/format/print.js';
import { type TextColumn, textTable } from './shared/format/text-table.js';
import { type LedgerWork, withLedger } from './shared/on-store/with-ledger.js';
import { readUpTo } from './shared/options/read-number.js';
import { readTime } from './shared/options/read-time.js';
import { withFilters } from './shared/options/with-filters.js';

interface Options {
  readonly outcome?: string;
  readonly source?: string;
  readonly region?: string;
  readonly since?: Date;
  readonly cause?: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: true;
}

export function createCommand(): Command {
  const command = new Command('failures').option(
    '--outcome <outcome>',
    `only with one of these: ${FAILURES.join(', ')}`,
  );
  return withFilters(command, ['source', 'region'])
    .option('--since <time>', 'failed since: 48h, 7d, or a time with its zone', readTime('--since'))
    .option('--cause <code>', 'only with this cause, as the list of causes has it')
    .option('--limit <number>', 'jobs to list', readUpTo(10_000), 100)
    .option('--cursor <text>', 'continue an earlier list')
    .option('--json', 'print one JSON document')
    .action(async (options: Options) => {
      const { page, ...basis } = await withLedger((work) => listFailures(work, options));
      if (options.json) printJson(page);
      else printLines(formatFailures(page, basis));
    });
}

async function listFailures(work: LedgerWork, options: Options) {
  const { config, store, view } = work;
  work.progress.show('reading the ledger');
  await view.refresh();
  await view.untilComplete();
  const { since, limit, cursor, outcome, source, region, cause } = options;
  const filters = { outcome, source, region };
  await rejectUnknownNames(filters, filterNamesOf(config), view);
  const query = { ...filters, cause, since: since?.getTime() };
  const page = await view.openFailures({ ...query, limit, cursor });
  const readFrom = `${view.status().rows} ledger lines in ${store.location}`;
  const isFiltered = [outcome, source, region, cause, since].some((value) => value !== undefined);
  return { page, readFrom, isFiltered, canRefetch: canAskService(config) };
}

const COLUMNS: readonly TextColumn<FailureLine>[] = [
  ['OUTCOME', 13, ({ outcome }) => outcome],
  ['REGION', 6, ({ region }) => region ?? '-'],
  ['JOB', 24, ({ jobId }) => jobId ?? '-'],
  [
    'KEPT UNTIL',
    17,
    ({ outcome, retentionEndsAt }) => (outcome === 'conflict' ? '-' : `${retentionEndsAt.slice(0, 16)}Z`),
  ],
  ['REASON', 0, ({ reason }) => reasonInWords(reason) ?? '-'],
];

interface ListBasis {
  /** Number of lines and store, so that a mistyped store does not look like good news. */
  readonly readFrom: string;
  readonly isFiltered: boolean;
  readonly canRefetch: boolean;
}

function formatFailures(page: FailurePage, { readFrom, isFiltered, canRefetch }: ListBasis): string[] {
  const { failures, causes, counts, nextCursor, since, index } = page;
  const note = notIndexedInWords(index, { since: Date.parse(since) });
  const notes = note === null ? [] : [note];
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0) {
    const all = note === null ? 'No job is failing' : 'No failing job was found';
    const found = isFiltered ? 'No failing job matches' : all;
    return [`${found}, by ${readFrom}.`, ...notes];
  }
  const summary = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
  return [
    `${total} ${total === 1 ? 'job is' : 'jobs are'} failing: ${summary.join(', ')}.`,
    ...notes,
    ...(canRefetch || !causes.some(isFetchable) ? [] : [NOTHING_CAN_BE_REFETCHED]),
    '',
    ...causes.slice(0, SHOWN_CAUSES).flatMap((cause) => formatCause(cause, canRefetch)),
    '',
    ...textTable(COLUMNS, failures),
    ...(nextCursor === null ? [] : ['', `There are more: --cursor ${nextCursor}`]),
  ];
}

const SHOWN_CAUSES = 20;

/** "47 jobs of intake: the body was larger than maxBytes of the source", what to do, and the commands for all of them. */
function formatCause(cause: FailureCause, canRefetch: boolean): string[] {
  const { code, source, outcome, count, first, last, remedy } = cause;
  const of = source === null ? '' : ` of ${source}`;
  const which = `--cause ${quoted(code)}${source === null ? '' : ` --source ${source}`}`;
  const when = first === last ? first : `First ${first}, last ${last}`;
  return [
    `${count} ${count === 1 ? 'job' : 'jobs'}${of}, ${outcome}: ${causeInWords(code)}. ${when}.`,
    ...(remedy === null ? [] : [`  ${remedy}`]),
    ...(canRefetch && isFetchable(cause) ? [`    transcript-receiver replay refetch ${which}`] : []),
    ...(outcome === 'conflict' ? ['    transcript-receiver job <job>'] : []),
    count === 1
      ? '  Or accept it as it is, with a reason.'
      : '  Or accept all of them as they are, with a reason.',
    `    transcript-receiver acknowledge ${which} --reason <words>`,
  ];
}

/** A code needs no quotes; the service's words do. */
function quoted(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
