// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import { reasonInWords, remedyFor } from '../../domain/reasons.js';
import { count, plural } from '../../lib/text/plural.js';
import type { IssueParams } from './issues.js';

/** Parts of the sentences about issues, and the words of those about callbacks. */

/** Formats an instant: the page in the browser's zone, everything else as ISO 8601. */
export type ShowTime = (instant: string) => string;

/** Texts of outcomes whose name is not clear enough. */
const FAILURES: Readonly<Record<string, string>> = {
  failed: 'not fetched',
  unrecoverable: 'lost at the service',
  conflict: 'in conflict',
};

/** "3 not fetched, 1 refused" */
export function failuresInWords(outcomes: Readonly<Record<string, number>>): string {
  return Object.entries(outcomes)
    .map(([name, number]) => `${count(number)} ${Object.hasOwn(FAILURES, name) ? FAILURES[name] : name}`)
    .join(', ');
}

/** "eu1: answered 401 (and 1 more)" */
export function faultsInWords({
  faults,
  first,
}: {
  readonly faults: number;
  readonly first: string;
}): string {
  return faults === 1 ? first : `${first} (and ${count(faults - 1)} more)`;
}

/** "3 lines of the ledger cannot be read: damaged, or written by a newer version. Lists and figures lack the lines of …" */
export function linesUnreadInWords({
  lines,
  objects,
  first,
}: IssueParams['ledger-lines-unreadable']): string {
  const others = objects > 1 ? ' and others, which are' : ', which is';
  const sentences: string[] = [];
  if (lines > 0)
    sentences.push(
      `${plural(lines, 'line')} of the ledger cannot be read: damaged, or written by a newer version.`,
    );
  if (first !== null)
    sentences.push(`Lists and figures lack the lines of ${first}${others} missing or cannot be read.`);
  return sentences.join(' ');
}

/** Effect of a denied prefix on callbacks of these sources; without sources, on callbacks that need it. */
export function callbacksWithout(sources: readonly string[]): string {
  return `Callbacks ${sources.length === 0 ? 'that need it' : `of ${sources.join(', ')}`} are answered 503.`;
}

/** "2 artefacts missing from the store and 1 artefact damaged" */
export function lossesInWords(missing: number, damaged: number): string {
  const losses: string[] = [];
  if (missing > 0) losses.push(`${plural(missing, 'artefact')} missing from the store`);
  if (damaged > 0) losses.push(`${plural(damaged, 'artefact')} damaged`);
  return losses.join(' and ');
}

/** "; it answered 503 last", after a sentence about a subscriber. */
export function attemptInWords(status: number | null, error: string | null): string {
  if (status !== null) return `; it answered ${status} last`;
  return error === null ? '' : `; the last attempt failed: ${error}`;
}

type Refused = IssueParams['callbacks-refused'];
type Missed = IssueParams['callbacks-missed'];

export function refusedInWords(
  { source, cause, unit, refused, accepted, sinceAccepted, since }: Refused,
  time: ShowTime,
): string {
  const what = unit === 'jobs' ? `The callbacks of ${plural(refused, 'job')}` : plural(refused, 'callback');
  // Without a source: "to an unknown source" only if that is the cause, because other refusals come before the source is looked up.
  const noSource = cause === 'source-unknown' ? ' to an unknown source' : '';
  const target = source === null ? noSource : ` to ${source}`;
  const others =
    accepted === 0 ? 'none was accepted' : `${count(accepted)} ${accepted === 1 ? 'was' : 'were'} accepted`;
  const isOver = accepted > 0 && sinceAccepted === 0;
  return `${what}${target} were rejected since ${time(since)}: ${reasonInWords(cause)}. In the last hour ${others}${isOver ? ', and none was rejected after them' : ''}.`;
}

/** Causes that jobs submitted with the right headers avoid. */
const WRONG_HEADERS = new Set(['credential-invalid', 'credential-missing', 'credential-wrong']);

export function refusedRemedy({ source, cause }: Pick<Refused, 'source' | 'cause'>): string {
  const own = remedyFor(cause);
  const headers = WRONG_HEADERS.has(cause)
    ? `Submit jobs with what transcript-receiver notification-config ${source} prints.`
    : null;
  return [own, headers, 'Refusals on the page show the requests. Then run transcript-receiver reconcile.']
    .filter((text) => text !== null)
    .join(' ');
}

export function missedInWords({ source, missed, lastHour, jobs, since }: Missed, time: ShowTime): string {
  const lately =
    lastHour === 0 ? 'none of them in the last hour' : `${count(lastHour)} of them in the last hour`;
  return `The callbacks of ${count(missed)} of ${plural(jobs, 'job')}${source === null ? '' : ` of ${source}`} since ${time(since)} did not bring the results, so that recovery had to fetch them; ${lately}.`;
}

export function missedRemedy({ job }: Pick<Missed, 'job'>): string {
  const example = job === null ? '<job>' : job;
  return `Find what keeps callbacks away: transcript-receiver job ${example} shows what the service was answered (no error: it sent none, or another server took it), and Refusals what was rejected here.`;
}
