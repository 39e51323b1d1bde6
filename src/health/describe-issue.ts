// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import { ISSUES, type IssueKind, type ShowTime } from './issue-kinds.js';
import type { Issue } from './issues.js';

/** An issue for people: on the page, in `status`, and in notices. */
export interface IssueWords {
  /** One or two words. */
  readonly label: string;
  /** What is wrong, and since when. */
  readonly text: string;
  /** What to do; null where nothing has to be done. */
  readonly remedy: string | null;
}

const AS_IT_IS: ShowTime = (instant) => instant;

export function describeIssue(
  { code, params }: Pick<Issue, 'code' | 'params'>,
  time: ShowTime = AS_IT_IS,
): IssueWords {
  // Issues are made by `issueOf` alone, which takes the params of its code.
  const kind = ISSUES[code] as IssueKind<Issue['params']>;
  const { label, text, remedy } = kind;
  return { label, text: text(params, time), remedy: typeof remedy === 'function' ? remedy(params) : remedy };
}

/** Stable while the issue lasts, and different for each source, credential and subscriber: "events-dead:crm". */
export function issueName({ code, params }: Pick<Issue, 'code' | 'params'>): string {
  const { source, credential, subscriber }: Issue['params'] = params;
  const about = [source, credential, subscriber].filter((name) => typeof name === 'string');
  return about.length === 0 ? code : `${code}:${about.join('/')}`;
}
