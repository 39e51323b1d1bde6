import { ISSUE_CODES, ISSUES, type IssueKind } from '../../../src/operations/issues/issue-kinds.js';
import type { IssueCode } from '../../../src/operations/issues/issues.js';
import { ALERTS_OF_ISSUES, runbookOf } from './alerts-of-issues.js';

/** The table of docs/operations.md: every issue of the verdict. */
export function issuesTable(): string {
  return `${[
    '| code | level | alerts |',
    '|---|---|---|',
    ...ISSUE_CODES.map((code) => {
      const { level, upTo, notified } = ISSUES[code] as IssueKind<never>;
      const levels = `${level}${upTo === undefined ? '' : ` to ${upTo}`}${notified ? ', notice' : ''}`;
      return `| \`${code}\` | ${levels} | ${alertsOf(code)} |`;
    }),
  ].join('\n')}\n`;
}

function alertsOf(code: IssueCode): string {
  const alerts = ALERTS_OF_ISSUES[code];
  if (typeof alerts === 'string') return '';
  return alerts.map((alert) => `[${alert}](runbooks/${runbookOf(alert)})`).join(', ');
}
