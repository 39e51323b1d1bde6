import { lastAnswer } from '../../domain/given-up.js';
import type { JobRecord } from '../../speech/wire.js';
import type { Expectation, ExpectedItem } from './expectation.js';

/** The next step for a job. */
export interface Plan {
  readonly step: 'matched' | 'expired' | 'pending' | 'fetch' | 'unrecoverable';
  /** Expected items that are not stored: with the step `expired` all of them, otherwise those that have not expired. */
  readonly missing: readonly ExpectedItem[];
  /** Why; null when there is nothing to explain. */
  readonly reason: string | null;
}

export interface Situation {
  readonly job: JobRecord;
  readonly expectation: Expectation;
  /** Keys of expected items that are in the archive. */
  readonly present: ReadonlySet<string>;
  /** Keys of expected items that have expired. */
  readonly expired: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds that a callback may be in flight. */
  readonly grace: number;
}

/** Error that the service records when it gives up a notification (public sample of `errors`). */
const GIVEN_UP = /sending notification failed/i;
const FAILED_ATTEMPT = /sending notification/i;

const EXPIRED = 'the missing items have expired';

/** Statuses of jobs whose results can no longer be requested. */
const GONE = ['deleted', 'expired'];

export function isGone({ status }: JobRecord): boolean {
  return GONE.includes(status);
}

/**
 * Whether a job ended without required artefacts, so that only its callback may be missing: a callback with a status other than success
 * requires no content.
 */
export function isEnded(job: JobRecord, { items }: Expectation): boolean {
  return job.status === 'rejected' || (isGone(job) && items.length === 0);
}

/** Whether the plan depends on the archive: a running job requires no artefacts yet. */
export function requiresArchive(job: JobRecord, expectation: Expectation): boolean {
  return expectation.items.length > 0 && job.status !== 'running';
}

/** Decides the next step for a job for which `isEnded` is false, from its expected, stored and expired artefacts. Pure. */
export function planJob(situation: Situation): Plan {
  const { job, expectation, present, expired } = situation;
  if (job.status === 'running') return plan('pending', [], 'the job is still running');
  const absent = expectation.items.filter(({ key }) => !present.has(key));
  const gone = isGone(job) ? `the job is ${job.status}` : null;
  if (absent.length === 0) return plan('matched', [], joinReasons([gone, unsupportedNote(expectation)]));
  const missing = absent.filter(({ key }) => !expired.has(key));
  if (missing.length === 0) return plan('expired', absent, EXPIRED);
  if (gone !== null) return plan('unrecoverable', missing, joinReasons([gone, notificationFailure(job)]));
  if (job.status !== 'done') return plan('pending', missing, `the job's status is ${job.status}`);
  if (mayBeInFlight(situation)) return plan('pending', missing, 'the callback may still be in flight');
  return plan('fetch', missing, joinReasons([notificationFailure(job), futureNote(situation)]));
}

/** Clocks do not differ by more than the grace period, so such a time is wrong and does not show whether a callback is in flight. */
function futureNote({ job, now, grace }: Situation): string | null {
  const isInFuture = Date.parse(job.created_at) > now + grace;
  return isInFuture
    ? `the service says that it was created at ${job.created_at}, which is in the future`
    : null;
}

/** Failed callbacks by the job's record, without their address, which may hold secrets. */
export function notificationFailure({ errors = [] }: JobRecord): string | null {
  if (!errors.some(({ message }) => FAILED_ATTEMPT.test(message))) return null;
  const answer = lastAnswer(errors);
  const last = answer === null ? '' : ` (last answer ${answer})`;
  return errors.some(({ message }) => GIVEN_UP.test(message))
    ? `Sending notification failed${last}`
    : `the service failed to send the notification at times${last}`;
}

/** Records do not say when a job finished, so the grace period counts from its creation or from the last failed attempt. */
function mayBeInFlight(situation: Situation): boolean {
  return !isGivenUp(situation.job) && (isRecent(situation.job.created_at, situation) || isRetried(situation));
}

/** Whether the service has failed to send a callback of the job, and is still trying. */
export function isRetried(situation: Pick<Situation, 'job' | 'now' | 'grace'>): boolean {
  return !isGivenUp(situation.job) && attemptsOf(situation.job).some((at) => isRecent(at, situation));
}

/** Whether the service gave up every notification entry: no callback is in flight any more. */
export function isGivenUp({ config, errors = [] }: JobRecord): boolean {
  const givenUp = errors.filter(({ message }) => GIVEN_UP.test(message)).length;
  const entries = config.notification_config?.length ?? 0;
  return entries > 0 && givenUp >= entries;
}

function attemptsOf({ errors = [] }: JobRecord): string[] {
  return errors.filter(({ message }) => FAILED_ATTEMPT.test(message)).map(({ timestamp }) => timestamp);
}

/**
 * Approximate time at which the callback of a job was expected, in ISO 8601: the last attempt to send it, else the creation of the job.
 * Null when the record has no valid time.
 */
export function expectedAt(job: JobRecord): string | null {
  const time = Date.parse(attemptsOf(job).at(-1) ?? job.created_at);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** A time further in the future is wrong. Without this bound the job would stay pending until that time. */
function isRecent(time: string, { now, grace }: Pick<Situation, 'now' | 'grace'>): boolean {
  return Math.abs(now - Date.parse(time)) < grace;
}

function unsupportedNote({ unsupported }: Expectation): string | null {
  if (unsupported.length === 0) return null;
  return `not checked, because the API does not offer it: ${unsupported.join(', ')}`;
}

function plan(step: Plan['step'], missing: Plan['missing'], reason: string | null): Plan {
  return { step, missing, reason };
}

/** Several reasons as one text; null when there is none. */
export function joinReasons(reasons: readonly (string | null)[]): string | null {
  const given = reasons.filter((reason) => reason !== null);
  return given.length === 0 ? null : given.join('; ');
}
