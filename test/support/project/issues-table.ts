import { ISSUE_CODES, ISSUES, type IssueKind } from '../../../src/health/issue-kinds.js';

/** What a remedy is made from, where it depends on that. */
const UNKNOWN = {
  condition: null,
  reason: null,
  since: null,
  subscriber: '<name>',
  events: 1,
  source: '<source>',
  successor: null,
};

/** The table of docs/operations.md: every issue of the verdict. */
export function issuesTable(): string {
  return `${[
    '| code | level | what to do |',
    '|---|---|---|',
    ...ISSUE_CODES.map((code) => {
      const { level, notified, remedy } = ISSUES[code] as IssueKind<typeof UNKNOWN>;
      const text = typeof remedy === 'function' ? remedy(UNKNOWN) : remedy;
      return `| \`${code}\` | ${level}${notified ? ', notice' : ''} | ${escaped(text ?? 'Nothing.')} |`;
    }),
  ].join('\n')}\n`;
}

const escaped = (text: string) => text.replaceAll('<', '\\<');
