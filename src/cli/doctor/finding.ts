import { describeIssue } from '../../operations/issues/describe-issue.js';
import type { Issue } from '../../operations/issues/issues.js';

/** `skipped`: not checked; the message gives the reason. */
export type FindingLevel = 'ok' | 'warning' | 'failed' | 'skipped';

/** Result of one check. */
export interface Finding {
  /** Name of the check, e.g. `store`; several findings may share it. */
  readonly check: string;
  readonly verdict: FindingLevel;
  readonly message: string;
  /** Recommended action; null when none is needed. */
  readonly advice: string | null;
}

export function passed(check: string, message: string): Finding {
  return { check, verdict: 'ok', message, advice: null };
}

export function warned(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'warning', message, advice };
}

export function failed(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'failed', message, advice };
}

export function skipped(check: string, message: string): Finding {
  return { check, verdict: 'skipped', message, advice: null };
}

/** An issue of the verdict. */
export function issueFound(
  check: string,
  issue: Issue,
  adviceFor: (remedy: string | null) => string,
): Finding {
  const { text, remedy } = describeIssue(issue);
  return (issue.level === 'failing' ? failed : warned)(check, text, adviceFor(remedy));
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
