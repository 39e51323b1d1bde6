import { Command } from 'commander';
import { EMPTY_STORE, isEmptyStore } from '../archive/erasure/empty-store.js';
import { loadConfig } from '../config/config.js';
import { reconcile } from '../recovery/reconcile/reconcile.js';
import type { RecoveryReport } from '../recovery/reconcile/report/recovery-report.js';
import { formatReconcileReport } from './reports/format-reconcile-report.js';
import { printJson, printLines, printNotes } from './shared/format/print.js';
import { readTime } from './shared/options/read-time.js';
import { checkRegions, exitCodeOf, type RecoveryWork, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly since?: Date;
  readonly dryRun?: true;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('reconcile')
    .option(
      '--since <time>',
      'look back at least so far: 48h, 7d, or a time with its zone; default: the end of the last complete run, once a day recovery.window',
      readTime('--since'),
    )
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
  const { parts, view, signal, progress } = work;
  checkRegions(parts);
  if (await isEmptyStore(parts.store)) printNotes(EMPTY_STORE);
  const failingJobs = async () => {
    progress.show('reading the ledger');
    await view.refresh();
    await view.untilComplete();
    return view.failingJobs();
  };
  let checked = 0;
  let fetched = 0;
  return reconcile(parts, {
    since: options.since,
    dryRun: options.dryRun === true,
    signal,
    failingJobs,
    onJob({ outcome }) {
      checked += 1;
      if (outcome === 'recovered' || outcome === 'conflict') fetched += 1;
      progress.show(`${checked} jobs checked, ${fetched} recovered`);
    },
  });
}
