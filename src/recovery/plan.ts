import type { JobRecord } from '../speech/wire.js';
import type { Expectation, ExpectedItem } from './expectation.js';
import { joinReasons } from './join-reasons.js';

/** What is to be done about a job. */
export interface Plan {
  readonly step: 'matched' | 'pending' | 'fetch' | 'unrecoverable';
  /** Expected and not here. */
  readonly missing: readonly ExpectedItem[];
  /** Why, in words; null when there is nothing to explain. */
  readonly reason: string | null;
}

export interface Situation {
  readonly job: JobRecord;
  readonly expectation: Expectation;
  /** Keys of expected items that lie in the archive. */
  readonly present: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Milliseconds that a callback may still be on its way. */
  readonly grace: number;
}

/** The service's last word on a notification it gave up (public sample of `errors`). */
const GIVEN_UP = /sending notification failed/i;
const FAILED_ATTEMPT = /sending notification/i;
const ANSWER = /response status: (\d{3})/i;

/** Statuses of jobs whose results can no longer be asked for. */
const GONE = ['deleted', 'expired'];

/** Whether the archive has to be looked at: nothing is required of jobs that are not finished, or failed. */
export function needsLook({ job, expectation }: Pick<Situation, 'job' | 'expectation'>): boolean {
  return expectation.items.length > 0 && job.status !== 'running' && job.status !== 'rejected';
}

/** Decides what to do about one job from what should be here and what is. Pure. */
export function planJob(situation: Situation): Plan {
  const { job, expectation, present } = situation;
  if (job.status === 'running') return plan('pending', [], 'the job is still running');
  // On a status other than success nothing is required to be present.
  if (job.status === 'rejected') return plan('matched', [], null);
  const missing = expectation.items.filter(({ key }) => !present.has(key));
  if (missing.length === 0) return plan('matched', [], unjudged(expectation));
  if (GONE.includes(job.status)) {
    return plan('unrecoverable', missing, `the job is ${job.status}${after(notificationTrouble(job))}`);
  }
  if (job.status !== 'done') return plan('pending', missing, `the job's status is ${job.status}`);
  if (mayBeOnItsWay(situation)) return plan('pending', missing, 'the callback may still be on its way');
  return plan('fetch', missing, joinReasons([notificationTrouble(job), fromTheFuture(situation)]));
}

/** No clocks differ by more than the grace period: what such a time says of a callback is worth nothing. */
function fromTheFuture({ job, now, grace }: Situation): string | null {
  const isLate = Date.parse(job.created_at) > now + grace;
  return isLate ? `the service says that it was created at ${job.created_at}, which is still to come` : null;
}

/** What the record tells of failed callbacks, without the address it names: that may hold secrets. */
export function notificationTrouble({ errors = [] }: JobRecord): string | null {
  const answer = errors.map(({ message }) => ANSWER.exec(message)?.[1]).findLast((found) => found);
  const last = answer === undefined ? '' : ` (last answer ${answer})`;
  if (errors.some(({ message }) => GIVEN_UP.test(message))) return `Sending notification failed${last}`;
  return errors.some(({ message }) => FAILED_ATTEMPT.test(message))
    ? `the service had trouble sending the notification${last}`
    : null;
}

/**
 * Records do not tell when a job was finished, so that grace counts from its creation or from the last
 * attempt that failed. Once the service has given up every entry nothing is on its way any more.
 */
function mayBeOnItsWay({ job, now, grace }: Situation): boolean {
  const attempts = (job.errors ?? []).filter(({ message }) => FAILED_ATTEMPT.test(message));
  const givenUp = attempts.filter(({ message }) => GIVEN_UP.test(message)).length;
  const entries = job.config.notification_config?.length ?? 0;
  if (entries > 0 && givenUp >= entries) return false;
  const times = [job.created_at, ...attempts.map(({ timestamp }) => timestamp)].map((time) =>
    Date.parse(time),
  );
  // Times beyond that are wrong, and would keep the job waiting until they come.
  return times.some((time) => Math.abs(now - time) < grace);
}

function unjudged({ unjudged: tokens }: Expectation): string | null {
  return tokens.length === 0 ? null : `not judged, because the API does not offer it: ${tokens.join(', ')}`;
}

function plan(step: Plan['step'], missing: Plan['missing'], reason: string | null): Plan {
  return { step, missing, reason };
}

function after(reason: string | null): string {
  return reason === null ? '' : `; ${reason}`;
}
