import { countsOfRun, faultsOfRun, notesOfRun } from '../../../domain/recovery-run.js';
import type { RecoveredJob, RecoveryReport } from '../../../recovery/reconcile/report/recovery-report.js';

/** A report as text: counts, then the jobs that need attention. */
export function formatReport(report: RecoveryReport, dryRun: boolean): string[] {
  const { window, jobs } = report;
  const notable = jobs.filter(({ outcome }) => dryRun || outcome !== 'pending');
  return [
    `Jobs created from ${window.since} to ${window.until}${dryRun ? ' (dry run: nothing was fetched)' : ''}`,
    ...(countsOfRun(report) ?? []).map(([outcome, count]) => `  ${outcome.padEnd(14)} ${count}`),
    ...notesOfRun(report, dryRun),
    ...notable.map(formatJob),
    ...faultsOfRun(report),
  ];
}

export function formatJob({ jobId, region, outcome, reason, items }: RecoveredJob): string {
  const kinds = items.map((item) => `${item.kind} ${item.outcome}`).join(', ');
  const details = [kinds, reason].filter((text) => text).join('; ');
  return `${outcome.padEnd(13)} ${region ?? '-'} ${jobId}${details === '' ? '' : `  ${details}`}`;
}
