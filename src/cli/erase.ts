import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { CONTEXT_NAME, type DeliveryContext } from '../domain/context.js';
import { parseContextFilter } from '../ledger/context-filter.js';
import { plural } from '../lib/text/plural.js';
import { terminalText } from '../lib/text/terminal-text.js';
import { type ErasureLine, eraseJobs } from '../operations/actions/erase/erase-jobs.js';
import { type FoundJobs, jobsOfContext } from '../operations/actions/erase/jobs-of-context.js';
import { type JobToErase, previewErasure } from '../operations/actions/erase/jobs-to-erase.js';
import {
  formatErasureLine,
  formatErasureRecord,
  formatErasureTotals,
  isNotable,
} from './reports/format-erasure.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines, printNotes } from './shared/format/print.js';
import { type WriterWork, withLedgerWriter } from './shared/on-store/with-ledger-writer.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { repeatable } from './shared/options/repeatable.js';

interface Options {
  readonly context?: readonly string[];
  readonly unknown?: true;
  readonly yes?: true;
  readonly reason?: string;
  readonly json?: true;
}

/** Ids accepted by one run. */
const MAX_GIVEN = 10_000;
const NOTHING: FoundJobs = { jobIds: [], unclear: [], faults: [] };
/** Jobs that a preview lists. */
const SHOWN = 20;
const LOST =
  'A job whose callback was lost is known only once it was fetched: run transcript-receiver reconcile --since 7d ten minutes after the last job has ended, or later';

export function createCommand(): Command {
  return new Command('erase')
    .argument('[jobs...]', 'ids of the jobs; - reads them from standard input, one a line')
    .option('--context <name=value>', 'all jobs of the ledger with this context; repeatable', repeatable)
    .option('--unknown', 'also ids about which nothing is known: what arrives of them later is not stored')
    .option('--reason <words>', 'reason, for the ledger')
    .option('--yes', 'erase without asking; needed without a terminal')
    .option('--json', 'print what became of each job, one JSON document a job')
    .action(async (jobs: readonly string[], options: Options) => {
      const context = readContextOptions(options.context ?? []);
      const given = await readIds(jobs);
      if (given.length === 0 && Object.keys(context).length === 0)
        throw new UsageError('name the jobs: their ids, - for a list on standard input, or --context');
      await withLedgerWriter(false, (work) => run(work, given, context, options));
    });
}

function readContextOptions(pairs: readonly string[]): DeliveryContext {
  const entries = pairs.map((pair) => {
    try {
      const { name, value } = parseContextFilter(pair);
      return [name, value] as const;
    } catch (error) {
      throw new UsageError(`--${(error as Error).message}${adviceFor(pair)}`);
    }
  });
  const context = Object.fromEntries(entries);
  if (Object.keys(context).length < entries.length)
    throw new UsageError('--context gives a name twice; all values have to match');
  return context;
}

/** For an invalid value: callbacks with such a value were stored without it, and are found by its name. */
function adviceFor(pair: string): string {
  const [, name] = /^([^=]+)=./.exec(pair) ?? [];
  if (name === undefined || !CONTEXT_NAME.test(name)) return '';
  return ` Jobs whose ${name} was left out: transcript-receiver deliveries --context-omitted ${name}. Erase those that are meant by their ids`;
}

async function readIds(jobs: readonly string[]): Promise<string[]> {
  const listed = jobs.includes('-') ? (await text(process.stdin)).split(/\r?\n/) : [];
  const ids = [...jobs.filter((job) => job !== '-'), ...listed.map((line) => line.trim())];
  const given = [...new Set(ids.filter((id) => id !== ''))];
  checkJobs(given);
  if (given.length > MAX_GIVEN) throw new UsageError(`a run erases at most ${MAX_GIVEN} jobs by their ids`);
  if (jobs.includes('-') && given.length === 0) throw new UsageError('standard input has no job id');
  return given;
}

async function run(
  work: WriterWork,
  given: readonly string[],
  context: DeliveryContext,
  options: Options,
): Promise<void> {
  const { store, view, progress } = work;
  await view.refresh();
  progress.show('searching the ledger');
  const names = Object.keys(context);
  const found = names.length === 0 ? NOTHING : await jobsOfContext(store, context);
  const jobs = await preview(work, given, found);
  rejectUnknown(jobs, options);
  const named = new Set(given);
  const unclear = found.unclear.filter((jobId) => !named.has(jobId));
  const notes = names.length > 0 ? [...unclearOf(unclear, names), LOST, ...faultsOf(found)] : [];
  if (jobs.length === 0) {
    printFor(options, ['The ledger has no job with this context', ...notes]);
    if (found.faults.length > 0) process.exitCode = EXIT.incomplete;
    return;
  }
  if (!options.yes && jobs.some(({ erasure }) => erasure === null))
    await confirm([...formatPreview(jobs), ...notes]);
  const lines = await eraseAndPrint(work, jobs, options);
  const totals = jobs.length > 1 && !options.json ? [formatErasureTotals(lines)] : [];
  printFor(options, [...totals, ...notes]);
  process.exitCode = exitCodeOf(lines, found);
}

async function preview(
  { config: { keyPrefixes }, store, view, progress }: WriterWork,
  given: readonly string[],
  found: FoundJobs,
): Promise<JobToErase[]> {
  const jobIds = [...new Set([...given, ...found.jobIds])];
  let checked = 0;
  const onJob = () => {
    checked += 1;
    progress.show(`checked ${checked} of ${jobIds.length} jobs`);
  };
  const inLedger = new Set(found.jobIds);
  const jobs = await previewErasure({ store, keyPrefixes, view }, jobIds, { inLedger, onJob });
  progress.end();
  return jobs;
}

async function eraseAndPrint(
  { config: { keyPrefixes }, store, ledger, view, signal, progress }: WriterWork,
  jobs: readonly JobToErase[],
  { json, reason }: Options,
): Promise<ErasureLine[]> {
  const lines: ErasureLine[] = [];
  const order = { jobs, audit: { actor: CLI_ACTOR, reason: reason ?? null }, signal };
  await eraseJobs({ store, keyPrefixes, view, ledger }, order, (line) => {
    lines.push(line);
    progress.end();
    if (json) printJson(line);
    else if (jobs.length <= SHOWN || isNotable(line)) printLines(formatErasureLine(line));
    if (lines.length < jobs.length) progress.show(`${lines.length} of ${jobs.length} jobs`);
  });
  return lines;
}

/** With --json the notes go to standard error: jobs that an erasure by context cannot have found concern a program, too. */
function printFor({ json }: Options, lines: readonly string[]): void {
  if (json) printNotes(...lines);
  else printLines(lines);
}

function exitCodeOf(lines: readonly ErasureLine[], { faults }: FoundJobs): number {
  if (lines.some((line) => 'error' in line)) return EXIT.failed;
  return faults.length > 0 || lines.some((line) => 'kept' in line && !line.complete)
    ? EXIT.incomplete
    : EXIT.ok;
}

/** An erasure of a misspelt id would look like a success, and block a future job with that id. */
function rejectUnknown(jobs: readonly JobToErase[], { unknown }: Options): void {
  const unknownIds = jobs.filter(({ state }) => state === 'unknown').map(({ jobId }) => jobId);
  if (unknown || unknownIds.length === 0) return;
  const more = unknownIds.length > SHOWN ? ` and ${unknownIds.length - SHOWN} more` : '';
  throw new UsageError(
    `nothing is known of ${unknownIds.slice(0, SHOWN).join(', ')}${more}, so nothing was erased; --unknown erases such ids as well: what arrives of them later is not stored`,
  );
}

/** Asks for confirmation, because erasing cannot be undone. Throws `UsageError` without a terminal, or when the answer is no. */
async function confirm(lines: readonly string[]): Promise<void> {
  process.stderr.write(lines.map((line) => `${terminalText(line)}\n`).join(''));
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError('nothing was erased: without a terminal to ask at, --yes is needed');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const said = await terminal.question('Erase all of it permanently? [y/N] ');
  terminal.close();
  if (!/^y(es)?$/i.test(said.trim())) throw new UsageError('nothing was erased');
}

function formatPreview(jobs: readonly JobToErase[]): string[] {
  const bytes = jobs.reduce((sum, job) => sum + job.bytes, 0);
  const rest = jobs.length - SHOWN;
  return [
    ...jobs.slice(0, SHOWN).map(formatJob),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    `${plural(jobs.length, 'job')}, ${bytes} bytes, and old versions`,
  ];
}

function formatJob({
  jobId,
  state,
  objects,
  quarantined,
  bytes,
  erasure,
  protected: rest,
}: JobToErase): string {
  if (state === 'unknown') return `  ${jobId}  nothing is known of it`;
  if (erasure !== null) return `  ${jobId}  ${formatErasureRecord(erasure)}`;
  const held = rest === null ? '' : `, protected${rest.until === null ? '' : ` until ${rest.until}`}`;
  const bodies = plural(quarantined, 'quarantined body', 'quarantined bodies');
  return `  ${jobId}  ${plural(objects, 'object')}, ${bodies}, ${plural(bytes, 'byte')}${held}`;
}

function faultsOf({ faults }: FoundJobs): string[] {
  if (faults.length === 0) return [];
  return [
    'Jobs with this context may be missing, because the ledger could not be read as a whole:',
    ...faults,
  ];
}

function unclearOf(jobIds: readonly string[], names: readonly string[]): string[] {
  if (jobIds.length === 0) return [];
  const more = jobIds.length > SHOWN ? ` and ${jobIds.length - SHOWN} more` : '';
  return [
    `${plural(jobIds.length, 'job')} may belong here too, because a value of ${names.join(' or ')} was left out of the context: ${jobIds.slice(0, SHOWN).join(', ')}${more}`,
  ];
}
