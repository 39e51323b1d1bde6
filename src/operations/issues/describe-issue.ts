// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import { ISSUES, type IssueKind } from './issue-kinds.js';
import type { Issue, IssueCode } from './issues.js';
import type { ShowTime } from './phrases.js';

/** Texts of an issue, for the page, `status` and notices. */
export interface IssueWords {
  /** One or two words. */
  readonly label: string;
  /** The issue, and since when. */
  readonly text: string;
  /** What to do; null if nothing has to be done. */
  readonly remedy: string | null;
}

type Params = Issue['params'];

const AS_ISO: ShowTime = (instant) => instant;

export function describeIssue(
  { code, params }: Pick<Issue, 'code' | 'params'>,
  time: ShowTime = AS_ISO,
): IssueWords {
  const kind = kindOf(code);
  return { label: kind.label, text: kind.text(params, time), remedy: remedyOf(kind, params) };
}

/** The cast is safe, because only `issueOf` creates issues. */
function kindOf(code: IssueCode): IssueKind<Params> {
  return ISSUES[code] as IssueKind<Params>;
}

function remedyOf({ remedy }: IssueKind<Params>, params: Params): string | null {
  return typeof remedy === 'function' ? remedy(params) : remedy;
}

/** Stable while the issue lasts, and different for each source, credential, subscriber, cause, prefix and replica: "events-dead:crm". */
export function issueName({ code, params }: Pick<Issue, 'code' | 'params'>): string {
  const { source, credential, subscriber, cause, prefix, replica }: Params = params;
  const about = [source, credential, subscriber, cause, prefix, replica].filter(
    (name) => typeof name === 'string',
  );
  return about.length === 0 ? code : `${code}:${about.join('/')}`;
}
