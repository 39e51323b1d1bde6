import { Command } from 'commander';
import { EMPTY_STORE, isEmptyStore } from '../archive/erasure/empty-store.js';
import { loadConfig } from '../config/config.js';
import { reconcile } from '../recovery/reconcile/reconcile.js';
import type { RecoveryReport } from '../recovery/reconcile/report/recovery-report.js';
import { formatReconcileReport } from './reports/format-reconcile-report.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines, printNotes } from './shared/format/print.js';
import { checkSource } from './shared/options/check-source.js';
import { readTime } from './shared/options/read-time.js';
import { repeatable } from './shared/options/repeatable.js';
import { checkRegions, exitCodeOf, type RecoveryWork, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly since?: Date;
  readonly region?: readonly string[];
  readonly source?: string;
  readonly full?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('reconcile')
    .option(
      '--since <time>',
      'how far back: 48h, 7d, or a time with its zone; default: the end of the last complete run, once a day recovery.window',
      readSince,
    )
    .option('--region <name>', 'only this region; repeatable', repeatable)
    .option('--source <name>', 'only this source; includes jobs without a notification entry', readName)
    .option('--full', 'look back as far as the service keeps results, wherever earlier runs ended')
    .option('--dry-run', 'show what would be fetched, change nothing')
    .option('--json', 'print the report as one JSON document')
    .action(async (options: Options) => {
      const needs = { dryRun: options.dryRun === true, mayBegin: true } as const;
      const report = await withRecovery(loadConfig('service'), needs, (work) => run(work, options));
      if (options.json) printJson(report);
      else printLines(formatReconcileReport(report, options.dryRun === true));
      process.exitCode = exitCodeOf(report.outcomes, report.faults);
    });
}

async function run(work: RecoveryWork, options: Options): Promise<RecoveryReport> {
  const { config, parts, view, signal, progress } = work;
  checkSource(config, options.source);
  checkRegions(parts);
  // Wrong regions are named before anything else is said.
  for (const region of options.region ?? parts.speech.regions) parts.speech.jobs(region);
  if (await isEmptyStore(parts.store)) printNotes(EMPTY_STORE);
  const failingJobs = async () => {
    progress.show('reading the ledger');
    await view.refresh();
    await view.readPast();
    return view.failingJobs();
  };
  let looked = 0;
  let fetched = 0;
  return reconcile(parts, {
    since: options.since,
    full: options.full === true,
    regions: options.region,
    source: options.source,
    dryRun: options.dryRun === true,
    signal,
    failingJobs,
    onJob({ outcome }) {
      looked += 1;
      if (outcome === 'recovered' || outcome === 'conflict') fetched += 1;
      progress.show(`${looked} jobs checked, ${fetched} recovered`);
    },
  });
}

const readSinceTime = readTime('--since');

/** A run that begins in the future would check nothing and report nothing missing. */
function readSince(text: string): Date {
  const since = readSinceTime(text);
  if (since.getTime() <= Date.now()) return since;
  throw new UsageError(`--since ${since.toISOString()} is in the future`);
}

function readName(text: string): string {
  if (text === '') throw new UsageError('--source expects the name of a source');
  return text;
}
