import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { refetch, UNKNOWN_JOB } from '../recovery/reconcile/fetch/refetch.js';
import { INTERRUPTED } from '../recovery/reconcile/recovery-errors.js';
import { resultWithoutItems } from '../recovery/reconcile/report/job-result.js';
import type { RecoveredJob } from '../recovery/reconcile/report/recovery-report.js';
import { formatRecoveredJob } from './reports/format-recovered-job.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { printJson, printLines } from './shared/format/print.js';
import { checkJobs } from './shared/options/check-jobs.js';
import { checkSource } from './shared/options/check-source.js';
import { checkRegions, exitCodeOf, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly region?: string;
  readonly source?: string;
  readonly again?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('refetch')
    .argument('<job>', 'id of the job')
    .option('--region <name>', 'region of the job; default: all')
    .option('--source <name>', 'source of the job, when its notification entries do not name one')
    .option('--again', 'also fetch stored results, and keep differences as conflicts')
    .option('--dry-run', 'show what would be fetched, change nothing')
    .option('--json', 'print the outcome as one JSON document')
    .action(async (jobId: string, options: Options) => {
      const result = await fetchOne(jobId, options);
      if (options.json) printJson(result);
      else
        printLines([
          formatRecoveredJob(result),
          ...(result.reason === UNKNOWN_JOB ? [adviceFor(jobId)] : []),
        ]);
      process.exitCode = exitCodeOf({ [result.outcome]: 1 });
    });
}

function adviceFor(text: string): string {
  return `If ${text} is mistyped, or your own reference rather than the id of a job: transcript-receiver job ${text} finds the job, or says what to do`;
}

function fetchOne(jobId: string, options: Options): Promise<RecoveredJob> {
  checkJobs([jobId]);
  const needs = { dryRun: options.dryRun === true, mayBegin: true } as const;
  return withRecovery(loadConfig('service'), needs, async ({ config, parts, signal }) => {
    checkSource(config, options.source);
    checkRegions(parts);
    const order = {
      jobId,
      region: options.region,
      source: options.source,
      again: options.again === true,
      dryRun: options.dryRun === true,
      actor: CLI_ACTOR,
      signal,
    };
    return refetch(parts, order).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return resultWithoutItems(jobId, null, 'failed', INTERRUPTED);
    });
  });
}
