// Loaded by the dashboard as well: whatever this module imports must run in a browser.
import { reasonInWords, remedyFor } from '../../domain/reasons.js';
import { count, plural } from '../../lib/text/plural.js';
import type { IssueParams } from './issues.js';

/** The words of the issues about callbacks. */

type Refused = IssueParams['callbacks-refused'];
type Missed = IssueParams['callbacks-missed'];
type ShowTime = (instant: string) => string;

export function refusedInWords(
  { source, cause, unit, refused, accepted, since }: Refused,
  time: ShowTime,
): string {
  const what = unit === 'jobs' ? `The callbacks of ${plural(refused, 'job')}` : plural(refused, 'callback');
  const target = source === null ? 'to an unknown source' : `to ${source}`;
  const others =
    accepted === 0 ? 'none was accepted' : `${count(accepted)} ${accepted === 1 ? 'was' : 'were'} accepted`;
  return `${what} ${target} were rejected since ${time(since)}: ${reasonInWords(cause)}. In the last hour ${others}.`;
}

/** Causes that jobs with other headers do not have. */
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

export function missedInWords({ missed, lastHour, jobs, since }: Missed, time: ShowTime): string {
  const lately =
    lastHour === 0 ? 'none of them in the last hour' : `${count(lastHour)} of them in the last hour`;
  return `The callbacks of ${count(missed)} of ${plural(jobs, 'job')} since ${time(since)} did not bring the results, so that recovery had to fetch them; ${lately}.`;
}

export function missedRemedy({ job }: Pick<Missed, 'job'>): string {
  const example = job === null ? '<job>' : job;
  return `Find what keeps callbacks away: transcript-receiver job ${example} shows what the service was answered, and Refusals what was rejected here.`;
}
