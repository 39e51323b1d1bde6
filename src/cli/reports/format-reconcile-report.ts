import { countsOfRun, faultsOfRun, notesOfRun } from '../../domain/recovery-run.js';
import type { RecoveryReport } from '../../recovery/reconcile/report/recovery-report.js';
import { formatRecoveredJob } from './format-recovered-job.js';

/** A report as text: counts, then the jobs that need attention. */
export function formatReconcileReport(report: RecoveryReport, dryRun: boolean): string[] {
  const { window, jobs } = report;
  const notable = jobs.filter(({ outcome }) => dryRun || outcome !== 'pending');
  return [
    `Jobs created from ${window.since} to ${window.until}${dryRun ? ' (dry run: nothing was fetched)' : ''}`,
    ...(countsOfRun(report) ?? []).map(([outcome, count]) => `  ${outcome.padEnd(14)} ${count}`),
    ...notesOfRun(report, dryRun),
    ...notable.map(formatRecoveredJob),
    ...faultsOfRun(report),
  ];
}
