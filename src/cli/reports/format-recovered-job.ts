import type { RecoveredJob } from '../../recovery/reconcile/report/recovery-report.js';

export function formatRecoveredJob({ jobId, region, outcome, reason, items }: RecoveredJob): string {
  const kinds = items.map((item) => `${item.kind} ${item.outcome}`).join(', ');
  const details = [kinds, reason].filter((text) => text).join('; ');
  return `${outcome.padEnd(13)} ${region ?? '-'} ${jobId}${details === '' ? '' : `  ${details}`}`;
}
