import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { type VerifyOptions, verify } from '../recovery/verify/verify.js';
import type { VerifyReport } from '../recovery/verify/verify-report.js';
import { packageVersion } from './package-version.js';
import { formatVerifyReport } from './reports/format-verify-report.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { readTime } from './shared/options/read-time.js';
import { reportUnreadableStore } from './shared/report-unreadable-store.js';
import { type RecoveryWork, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly since?: Date;
  readonly until?: Date;
  readonly deep?: true;
  readonly json?: true;
}

const DEFAULT_SPAN = 30 * 24 * 3_600_000;

export function createCommand(): Command {
  return new Command('verify')
    .option(
      '--since <time>',
      'lines written since: 30d, or a time with its zone; default: 30d',
      readTime('--since'),
    )
    .option('--until <time>', 'lines written before; default: now', readTime('--until'))
    .option('--deep', 'read and hash the bytes of every artefact')
    .option('--json', 'print the report as one JSON document')
    .action(async (options: Options) => {
      const window = windowOf(options, Date.now());
      const report = await withRecovery(loadConfig('store'), { dryRun: true }, (work) =>
        run(work, { ...options, ...window }),
      ).catch(reportUnreadableStore);
      if (report === null) return;
      if (options.json) printJson(report);
      else printLines(formatVerifyReport(report));
      process.exitCode = exitCodeOf(report);
    });
}

interface Window {
  readonly since: Date;
  readonly until: Date;
}

function windowOf({ since, until }: Options, now: number): Window {
  const window = { since: since ?? new Date(now - DEFAULT_SPAN), until: until ?? new Date(now) };
  if (window.since < window.until) return window;
  throw new UsageError('--since must be before --until, and not in the future');
}

async function run(work: RecoveryWork, options: Options & Window): Promise<VerifyReport> {
  const { parts, signal, progress } = work;
  const now = parts.clock();
  const { since, until, deep = false } = options;
  const onProgress: VerifyOptions['onProgress'] = ({ checked, bytes }) => {
    const seconds = Math.max(1, (parts.clock() - now) / 1000);
    const rate = `${Math.round(checked / seconds)} artefacts and ${Math.round(bytes / seconds)} bytes a second`;
    progress.show(`${checked} artefacts, ${bytes} bytes ${deep ? 'read' : 'intact'}, ${rate}`);
  };
  const version = packageVersion();
  return verify(parts, { version, since, until, deep, signal, onProgress });
}

/** As for `reconcile`: 4 takes precedence over 3. */
function exitCodeOf({ complete, outcomes }: VerifyReport): number {
  if (!complete) return EXIT.incomplete;
  return outcomes.missing + outcomes.damaged > 0 ? EXIT.unrecoverable : EXIT.ok;
}
