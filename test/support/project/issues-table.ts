import { ISSUE_CODES, ISSUES, type IssueKind } from '../../../src/operations/health/issue-kinds.js';
import type { IssueCode } from '../../../src/operations/health/issues.js';
import { ALERTS_OF_ISSUES, runbookOf } from './alerts-of-issues.js';

/** What a remedy is made from, where it depends on that. */
const UNKNOWN = {
  condition: null,
  reason: null,
  since: null,
  subscriber: '<name>',
  events: 1,
  source: '<source>',
  successor: null,
  cause: null,
  job: '<job>',
};

/** The table of docs/operations.md: every issue of the verdict. */
export function issuesTable(): string {
  return `${[
    '| code | level | alerts | what to do |',
    '|---|---|---|---|',
    ...ISSUE_CODES.map((code) => {
      const { level, upTo, notified, remedy } = ISSUES[code] as IssueKind<typeof UNKNOWN>;
      const text = typeof remedy === 'function' ? remedy(UNKNOWN) : remedy;
      const levels = `${level}${upTo === undefined ? '' : ` to ${upTo}`}${notified ? ', notice' : ''}`;
      return `| \`${code}\` | ${levels} | ${alertsOf(code)} | ${escaped(text ?? 'Nothing.')} |`;
    }),
  ].join('\n')}\n`;
}

function alertsOf(code: IssueCode): string {
  const alerts = ALERTS_OF_ISSUES[code];
  if (typeof alerts === 'string') return '';
  return alerts.map((alert) => `[${alert}](runbooks/${runbookOf(alert)})`).join(', ');
}

const escaped = (text: string) => text.replaceAll('<', '\\<');
