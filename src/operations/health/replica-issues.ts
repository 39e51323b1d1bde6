import { isInScope, type SourceScope } from '../../domain/rights.js';
import { describeIssue, issueName } from '../issues/describe-issue.js';
import { ISSUES, issueOf } from '../issues/issue-kinds.js';
import { type Issue, REPORTED_ISSUES } from '../issues/issues.js';
import type { ReplicaReports } from './replica-reports.js';

/**
 * What is known of the replicas.
 *
 * @param own key of the canary of the process that asks
 */
export function issuesOfReplicas({ reports, silent }: ReplicaReports, own: string | null = null): Issue[] {
  return [
    ...issuesOfReports(reports.filter(({ key }) => key !== own)),
    ...silent
      .filter(({ key }) => key !== own)
      .map(({ replica, since }) => issueOf('replica-silent', { replica, since: since.toISOString() })),
  ];
}

/** Issues that replicas report, each once. Leaves out what is not one, such as what a newer version reports. */
export function issuesOfReports(reports: readonly { readonly report: unknown }[]): Issue[] {
  const issues = reports.flatMap(({ report }) => (Array.isArray(report) ? report.flatMap(asIssue) : []));
  return onePerName(issues);
}

/** The first issue of each name: what concerns the store is reported by every replica. */
export function onePerName(issues: readonly Issue[]): Issue[] {
  const named = new Map<string, Issue>();
  for (const issue of issues) if (!named.has(issueName(issue))) named.set(issueName(issue), issue);
  return [...named.values()];
}

/** The issues as a client sees them that may see some sources: without those of other sources, and their names. */
export function issuesInScope(issues: readonly Issue[], scope: SourceScope): Issue[] {
  if (scope === null) return [...issues];
  return issues.flatMap((issue) => {
    const { sources } = issue.params;
    if (!Array.isArray(sources) || sources.length === 0) return [issue];
    const seen = sources.filter((source: unknown) => typeof source === 'string' && isInScope(scope, source));
    return seen.length === 0 ? [] : [{ ...issue, params: { ...issue.params, sources: seen } }];
  });
}

function asIssue(value: unknown): Issue[] {
  const { code: name, params } = (value ?? {}) as { code?: unknown; params?: unknown };
  const code = REPORTED_ISSUES.find((each) => each === name);
  if (code === undefined || typeof params !== 'object' || params === null) return [];
  const { topic, level } = ISSUES[code];
  const issue: Issue = { topic, level, code, params: { ...params } };
  try {
    // What lacks a fact cannot be described.
    describeIssue(issue);
    return [issue];
  } catch {
    return [];
  }
}
