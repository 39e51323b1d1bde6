import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { deliveriesCsv } from '../domain/deliveries-csv.js';
import { isAccess, type LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import { reasonInWords } from '../domain/reasons.js';
import type { DeliveryQuery } from '../ledger/read/delivery-query.js';
import { rejectUnknownNames } from '../ledger/read/filter-names.js';
import type { LedgerView } from '../ledger/read/ledger-view.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printJsonLine, printLines } from './shared/format/print.js';
import { createProgress } from './shared/format/progress.js';
import { textRow } from './shared/format/text-row.js';
import { openRepairs } from './shared/open-repairs.js';
import { readUpTo } from './shared/options/read-number.js';
import { readTime } from './shared/options/read-time.js';
import { checkJobs, type RecoveryWork, withRecovery } from './shared/with-recovery.js';

interface Options extends Omit<DeliveryQuery, 'since' | 'until' | 'without'> {
  readonly since?: Date;
  readonly until?: Date;
  readonly acts?: true;
  readonly limit: number;
  readonly follow?: true;
  readonly csv?: true;
  readonly json?: true;
}

/** Lines that the reader gives at once. */
const PAGE = 500;
/** Milliseconds between two searches for new lines. */
const FOLLOW_EVERY = 2_000;

export function createCommand(): Command {
  return new Command('deliveries')
    .description('list what arrived and what became of it, newest first, by the filters of the page')
    .option('--job <id>', 'only of this job')
    .option('--source <name>', 'only of this source')
    .option('--region <name>', 'only of this region')
    .option('--status <status>', 'only with this callback status')
    .option('--outcome <outcome>', 'only with this outcome, such as refused')
    .option('--origin <origin>', 'only of this origin, such as recovery')
    .option('--context <name=value>', 'only with this context')
    .option('--since <time>', 'received since: 48h, 7d, or a time with its zone', readTime('--since'))
    .option('--until <time>', 'received before', readTime('--until'))
    .option('--acts', 'also what operators did')
    .option('--limit <number>', 'lines to list', readUpTo(1_000_000), 50)
    .option('-f, --follow', 'list new lines as they come, until it is interrupted')
    .option('--csv', 'print CSV with a header')
    .option('--json', 'print one JSON document; with --follow one a line')
    .action(async (options: Options) => {
      checkJobs(options.job === undefined ? [] : [options.job]);
      if (options.csv && (options.json || options.follow))
        throw new UsageError('--csv goes with neither --json nor --follow');
      if (options.follow && options.until !== undefined)
        throw new UsageError('--follow has no end: leave --until out');
      await withRecovery(true, (work) => list(work, options));
    });
}

async function list(work: RecoveryWork, options: Options): Promise<void> {
  const { view } = openRepairs(work);
  const query = queryOf(options);
  const progress = createProgress();
  progress.show('reading the ledger');
  try {
    await view.refresh();
    rejectUnknownNames(query, filterNamesOf(work.config), view);
    const found = await search(view, query, options.limit);
    progress.end();
    if (found.faults.length > 0) process.exitCode = EXIT.incomplete;
    if (!options.follow) return print(found, options);
    await follow(view, query, found.lines, options, work.signal);
  } catch (error) {
    throw error instanceof Problem ? new UsageError(error.message) : error;
  } finally {
    progress.end();
  }
}

function queryOf(options: Options): DeliveryQuery {
  const { job, source, region, status, outcome, origin, context, since, until, acts } = options;
  return {
    ...{ job, source, region, status, outcome, origin, context },
    since: since?.toISOString(),
    until: until?.toISOString(),
    without: acts ? undefined : 'acts',
  };
}

interface Found {
  readonly lines: readonly LedgerLine[];
  readonly faults: readonly string[];
  /** Whether older lines match as well. */
  readonly isCut: boolean;
}

/** Newest first. */
async function search(view: LedgerView, query: DeliveryQuery, limit: number): Promise<Found> {
  const lines: LedgerLine[] = [];
  const faults = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await view.deliveries({ ...query, limit: Math.min(PAGE, limit - lines.length), cursor });
    lines.push(...page.deliveries);
    for (const fault of page.faults) faults.add(fault);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && lines.length < limit);
  return { lines, faults: [...faults], isCut: cursor !== undefined };
}

function print({ lines, faults, isCut }: Found, { csv, json, limit }: Options): void {
  if (json) printJson({ deliveries: lines, complete: !isCut && faults.length === 0, faults });
  else if (csv) process.stdout.write(deliveriesCsv(lines));
  else if (lines.length === 0) printLines(['No delivery matches.']);
  else printLines([TITLES, ...lines.map(rowOf)]);
  const notes = [
    ...(isCut ? [`older deliveries match as well: raise --limit above ${limit}, or set --until`] : []),
    ...faults.map((fault) => `lines may be missing: ${fault}`),
  ];
  if (!json) for (const note of notes) process.stderr.write(`transcript-receiver: ${note}\n`);
}

/** Prints what was found, oldest first, and then what comes. */
async function follow(
  view: LedgerView,
  query: DeliveryQuery,
  found: readonly LedgerLine[],
  { json, limit }: Options,
  signal: AbortSignal,
): Promise<void> {
  let seen = new Set<string>();
  let lines = found;
  for (;;) {
    for (const line of lines.toReversed().filter((each) => !seen.has(identityOf(each)))) {
      if (json) printJsonLine(line);
      else printLines([rowOf(line)]);
    }
    seen = new Set([...lines.map(identityOf), ...seen].slice(0, 10 * PAGE));
    await sleep(FOLLOW_EVERY, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await view.refresh();
    lines = (await search(view, query, Math.max(limit, PAGE))).lines;
  }
}

function identityOf({ deliveryId, outcome, receivedAt }: LedgerLine): string {
  return `${deliveryId} ${outcome} ${receivedAt}`;
}

const row = textRow([24, 13, 9, 10, 11, 24]);
const TITLES = row(['RECEIVED', 'OUTCOME', 'ORIGIN', 'SOURCE', 'STATUS', 'JOB', 'REASON']);

function rowOf(line: LedgerLine): string {
  const { receivedAt, outcome, origin, source, status, jobId, actor, clientIp, reason } = line;
  const from = isAccess(line) && clientIp !== null ? ` from ${clientIp}` : '';
  const by = actor === undefined ? null : `by ${actor}${from}`;
  const why = [by, reasonInWords(reason)].filter(Boolean).join(': ');
  return row([receivedAt, outcome, origin, source ?? '-', status ?? '-', jobId ?? '-', why || '-']);
}
