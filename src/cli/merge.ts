import { Command } from 'commander';
import { mergeParts } from '../app/merge-parts.js';
import { loadConfig } from '../config/config.js';
import { createMerger } from '../ledger/merge/merge.js';
import type { MergeReport } from '../ledger/merge/merge-report.js';
import { plural } from '../lib/text/plural.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { readTime } from './shared/options/read-time.js';
import { reportUnreadableStore } from './shared/report-unreadable-store.js';
import { type RecoveryWork, withRecovery } from './shared/with-recovery.js';

/** Segments read at once: twice as many as in the service, where callbacks need the connections, too. */
const CONCURRENCY = 32;

const NOTHING = 'No hour had anything to merge.';
const NEW_ONLY = 'Older hours are looked at again with --since or --all.';

interface Options {
  readonly since?: Date;
  readonly all?: true;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('merge')
    .option(
      '--since <time>',
      'look again at all hours since: 48h, 7d, or a time with its zone',
      readTime('--since'),
    )
    .option('--all', 'look again at all hours')
    .option('--json', 'print the report as one JSON document')
    .action(async (options: Options) => {
      if (options.all && options.since) throw new UsageError('--all and --since exclude each other');
      const report = await withRecovery(loadConfig('store'), { dryRun: false }, (work) =>
        run(work, options),
      ).catch(reportUnreadableStore);
      if (report === null) return;
      if (options.json) printJson(report);
      else printLines(formatReport(report, options));
      process.exitCode = exitCodeOf(report);
    });
}

async function run(work: RecoveryWork, options: Options): Promise<MergeReport> {
  const { config, parts, signal, progress } = work;
  progress.show('looking for hours to merge');
  const merger = createMerger({ ...mergeParts(config, parts.store), concurrency: CONCURRENCY });
  return merger.run({
    since: options.all ? new Date(0) : options.since,
    signal,
    onRecord: ({ hour }, { hours, lines }) =>
      progress.show(`${plural(lines, 'line')} of ${plural(hours, 'hour')}, at ${hour}`),
  });
}

function exitCodeOf({ faults, interrupted, records, deleted, swept }: MergeReport): number {
  if (faults.some(({ hour }) => hour === null)) return EXIT.incomplete;
  if (faults.length > 0 || interrupted) return EXIT.unrecoverable;
  return records + deleted + swept === 0 ? EXIT.failed : EXIT.ok;
}

function formatReport(report: MergeReport, { all, since }: Options): string[] {
  const { hours, records, lines, segments, deleted, swept, faults, interrupted } = report;
  const isAgain = all === true || since !== undefined;
  const text: string[] = [];
  if (records > 0)
    text.push(
      `Merged ${plural(hours, 'hour')}: ${plural(lines, 'line')} of ${plural(segments, 'segment')} in ${plural(records, 'object')}.`,
    );
  if (deleted > 0) text.push(`Deleted ${plural(deleted, 'segment')}.`);
  if (swept > 0) text.push(`Deleted ${plural(swept, 'object')} that no record names.`);
  if (interrupted) text.push('Interrupted: the next run continues.');
  for (const { hour, reason } of faults) text.push(`error${hour === null ? '' : ` in ${hour}`}: ${reason}`);
  if (text.length > 0) return text;
  return [isAgain ? NOTHING : `${NOTHING} ${NEW_ONLY}`];
}
