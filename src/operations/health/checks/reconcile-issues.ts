import type { ReconcileFigures } from '../../answers/health.js';
import { issueOf } from '../../issues/issue-kinds.js';
import type { Issue } from '../../issues/issues.js';

export interface ServiceFacts {
  /** An API key and at least one region's address are configured. */
  readonly configured: boolean;
  /** Milliseconds between runs of reconcile in this process; null when it does not run here. */
  readonly interval: number | null;
}

/** Milliseconds after which a run is overdue: a daily run leaves time before the service's retention ends. */
const RECONCILE_OVERDUE = 26 * 3_600_000;

export function reconcileIssues(
  reconcile: ReconcileFigures | null,
  service: ServiceFacts,
  now: number,
): Issue[] {
  const since = reconcile?.finishedAt ?? null;
  if (reconcile === null || since === null) return [neverRun(service)];
  const { faults, isWhole } = reconcile;
  const [first] = faults;
  const isOverdue = now - Date.parse(since) > RECONCILE_OVERDUE;
  const issues: Issue[] = [];
  if (isOverdue) issues.push(issueOf('reconcile-overdue', { since }));
  if (first !== undefined) issues.push(issueOf('reconcile-incomplete', { faults: faults.length, first }));
  if (!isWhole || issues.length > 0)
    issues.push(issueOf('expected-unknown', { since: isWhole ? since : null }));
  return issues;
}

function neverRun({ configured, interval }: ServiceFacts): Issue {
  if (!configured) return issueOf('reconcile-not-configured', {});
  return issueOf(interval === null ? 'reconcile-not-scheduled' : 'reconcile-not-run', {});
}
