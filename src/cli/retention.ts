import { Command } from 'commander';
import { formatDuration } from '../config/units.js';
import type { RetentionClass } from '../domain/retention-class.js';
import { isExpiring } from '../recovery/retention/expired-objects.js';
import type { RetentionReport } from '../recovery/retention/retention-report.js';
import { sweepRetention } from '../recovery/retention/sweep-retention.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { createProgress } from './shared/format/progress.js';
import { type RecoveryWork, withStoreAlone } from './shared/with-recovery.js';

interface Options {
  readonly dryRun?: true;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('retention')
    .description('remove what is older than the configured retention, from a file store')
    .option('--dry-run', 'count what would be removed, and remove nothing')
    .option('--json', 'print the report as one JSON document')
    .action(async (options: Options) => {
      const dryRun = options.dryRun ?? false;
      await withStoreAlone(dryRun, async (work) => {
        const report = await run(work, dryRun);
        if (options.json) printJson(report);
        else printLines(formatReport(report, work.config.retention));
        if (!report.complete || report.inProgress > 0) process.exitCode = EXIT.incomplete;
      });
    });
}

async function run({ config, parts, signal }: RecoveryWork, dryRun: boolean): Promise<RetentionReport> {
  const { store, ledger } = parts;
  const clock = () => parts.clock() + store.clockOffset();
  if (!isExpiring(store)) {
    throw new UsageError('the rules of the bucket end its objects: this command is for a file: store.url');
  }
  if (Object.values(config.retention).every((period) => period === null)) {
    throw new UsageError('nothing ends: set retention.<kind>');
  }
  const progress = createProgress();
  const what = dryRun ? 'have ended' : 'removed';
  try {
    return await sweepRetention(
      { store, ledger, periods: config.retention, actor: CLI_ACTOR, clock },
      {
        dryRun,
        signal,
        onProgress: ({ objects, bytes }) => progress.show(`${objects} objects, ${bytes} bytes ${what}`),
      },
    );
  } finally {
    progress.end();
  }
}

function formatReport(
  { kinds, dryRun, inProgress, foreign, faults }: RetentionReport,
  periods: Readonly<Record<RetentionClass, number | null>>,
): string[] {
  return [
    dryRun ? 'Would remove (dry run: nothing was removed)' : 'Removed',
    ...Object.entries(kinds).map(
      ([kind, { before, objects, bytes }]) =>
        `  ${kind.padEnd(12)} ${objects} objects, ${bytes} bytes, older than ${formatDuration(periods[kind as RetentionClass] ?? 0)} (${before})`,
    ),
    ...(inProgress === 0
      ? []
      : [
          `${inProgress} further objects are being removed by another process, or were when it ended: run this again after ten minutes`,
        ]),
    ...(foreign.objects === 0
      ? []
      : [
          `left alone, because they are not of the layout: ${foreign.objects} in folders of jobs, such as ${foreign.first.join(', ')}`,
        ]),
    ...faults.map(({ key, reason }) => `error${key === null ? '' : ` at ${key}`}: ${reason}`),
  ];
}
