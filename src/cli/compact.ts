import { Command } from 'commander';
import { compactionParts } from '../app/compaction-parts.js';
import { compact } from '../ledger/compact/compact.js';
import type { CompactionReport } from '../ledger/compact/compaction-report.js';
import { plural } from '../text/plural.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { createProgress } from './shared/format/progress.js';
import { readTime } from './shared/options/read-time.js';
import { type RecoveryWork, withStoreAlone } from './shared/with-recovery.js';

/** Segments read at once. Twice as many as in the service, where callbacks need the connections too. */
const CONCURRENCY = 32;

const NOTHING = 'No hour had anything to compact.';
const NEW_ONLY = 'Hours of earlier runs are looked at again with --since or --all.';

interface Options {
  readonly since?: Date;
  readonly all?: true;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('compact')
    .description('write whole hours of the ledger into Parquet files and rollups')
    .option(
      '--since <time>',
      'look again at all hours since: 48h, 7d, or a time with its zone',
      readTime('--since'),
    )
    .option('--all', 'look again at all hours')
    .option('--json', 'print the report as one JSON document')
    .action(async (options: Options) => {
      if (options.all && options.since) throw new UsageError('--all and --since exclude each other');
      const report = await withStoreAlone(false, (work) => run(work, options));
      if (options.json) printJson(report);
      else printLines(formatReport(report, options));
      process.exitCode = report.faults.length > 0 || report.interrupted ? EXIT.incomplete : EXIT.ok;
    });
}

async function run({ config, parts, signal }: RecoveryWork, options: Options): Promise<CompactionReport> {
  const progress = createProgress();
  progress.show('looking for hours to compact');
  try {
    return await compact(
      { ...compactionParts(config, parts.store), concurrency: CONCURRENCY },
      {
        since: options.all ? new Date(0) : options.since,
        signal,
        onFile: ({ hour }, { hours, lines }) =>
          progress.show(`${plural(lines, 'line')} of ${plural(hours, 'hour')}, at ${hour}`),
      },
    );
  } finally {
    progress.end();
  }
}

function formatReport(report: CompactionReport, { all, since }: Options): string[] {
  const { hours, files, lines, segments, days, deleted, broken, newer, inProgress, faults } = report;
  const isAgain = all === true || since !== undefined;
  const isWhole = faults.length === 0 && inProgress === 0 && !report.interrupted;
  return [
    ...(files === 0 && isWhole ? [isAgain ? NOTHING : `${NOTHING} ${NEW_ONLY}`] : []),
    ...(files > 0
      ? [
          `Compacted ${plural(hours, 'hour')}: ${plural(lines, 'line')} of ${plural(segments, 'segment')} in ${plural(files, 'file')}.`,
        ]
      : []),
    ...(days > 0 ? [`Summed up ${plural(days, 'day')}.`] : []),
    ...(deleted > 0 ? [`Deleted ${plural(deleted, 'segment')}.`] : []),
    ...(broken > 0 ? [`${plural(broken, 'line')} cannot be read; the segments stay.`] : []),
    ...(newer > 0 ? [`${plural(newer, 'line')} of a newer version; the segments stay.`] : []),
    ...(inProgress > 0
      ? [`${plural(inProgress, 'hour')} left to another process, or to the next run if that process died.`]
      : []),
    ...(report.interrupted ? ['Interrupted: the next run continues.'] : []),
    ...faults.map(({ hour, reason }) => `error${hour === null ? '' : ` in ${hour}`}: ${reason}`),
  ];
}
