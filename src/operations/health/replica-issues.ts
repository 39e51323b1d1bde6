import { isInScope, type SourceScope } from '../../domain/rights.js';
import { describeIssue, issueName } from '../issues/describe-issue.js';
import { ISSUES, issueOf } from '../issues/issue-kinds.js';
import { type Issue, REPORTED_ISSUES } from '../issues/issues.js';
import type { ReplicaReports } from './replica-reports.js';

/**
 * Issues of the replicas: those that they report, and replicas that are silent.
 *
 * @param own key of this process's canary, which is left out
 */
export function issuesOfReplicas({ reports, silent }: ReplicaReports, own: string | null = null): Issue[] {
  return [
    ...issuesOfReports(reports.filter(({ key }) => key !== own)),
    ...silent
      .filter(({ key }) => key !== own)
      .map(({ replica, since }) => issueOf('replica-silent', { replica, since: since.toISOString() })),
  ];
}

/** Issues that replicas report, each once. Skips unknown ones, for example of a newer version. */
export function issuesOfReports(reports: readonly { readonly report: unknown }[]): Issue[] {
  const issues = reports.flatMap(({ report }) => (Array.isArray(report) ? report.flatMap(asIssue) : []));
  return onePerName(issues);
}

/** The first issue of each name, because every replica reports issues of the store. */
export function onePerName(issues: readonly Issue[]): Issue[] {
  const named = new Map<string, Issue>();
  for (const issue of issues) if (!named.has(issueName(issue))) named.set(issueName(issue), issue);
  return [...named.values()];
}

/** The issues for a client with a scope: without issues and names of other sources. */
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
    // Throws if a parameter is missing.
    describeIssue(issue);
    return [issue];
  } catch {
    return [];
  }
}
