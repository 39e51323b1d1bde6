import { RECOVERY_OUTCOMES } from '../../../domain/recovery-outcome.js';
import type { RecoveredJob, RecoveryReport } from '../../../recovery/reconcile/report/recovery-report.js';

const PENDING =
  'Pending jobs are still running, or younger than recovery.grace, and their callbacks may still come: run reconcile again then';

/** A report as text: counts, then the jobs that need attention. */
export function formatReport(report: RecoveryReport, dryRun: boolean): string[] {
  const { window, outcomes, recorded = 0, ignored, jobs, faults } = report;
  const seen = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const notable = jobs.filter(({ outcome }) => dryRun || outcome !== 'pending');
  return [
    `Jobs created from ${window.since} to ${window.until}${dryRun ? ' (dry run: nothing was fetched)' : ''}`,
    ...(faults.length > 0 && seen === 0
      ? ['No job was compared, and nothing is known of the results of this time']
      : RECOVERY_OUTCOMES.flatMap((outcome) =>
          outcomes[outcome] === undefined ? [] : [`  ${outcome.padEnd(14)} ${outcomes[outcome]}`],
        )),
    ...(recorded > 0 ? [recordedInWords(recorded, dryRun)] : []),
    ...(ignored > 0 ? [`  not ours       ${ignored}`] : []),
    ...((outcomes.pending ?? 0) > 0 ? [PENDING] : []),
    ...notable.map(formatJob),
    ...faults.map(({ region, reason }) => `error${region === null ? '' : ` in ${region}`}: ${reason}`),
  ];
}

function recordedInWords(recorded: number, dryRun: boolean): string {
  const end = dryRun ? 'would be recorded' : 'is on record now, and subscribers are notified';
  return `  recorded       ${recorded} without a transcript, whose callback was lost: that ${end}`;
}

export function formatJob({ jobId, region, outcome, reason, items }: RecoveredJob): string {
  const kinds = items.map((item) => `${item.kind} ${item.outcome}`).join(', ');
  const details = [kinds, reason].filter((text) => text).join('; ');
  return `${outcome.padEnd(13)} ${region ?? '-'} ${jobId}${details === '' ? '' : `  ${details}`}`;
}
