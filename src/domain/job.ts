/**
 * A job of the speech service, as far as a receiver knows it (docs/service-interface.md).
 */

/** Ids the service issues are short and URL-safe; anything else never becomes part of a key. */
const JOB_ID = /^[A-Za-z0-9_-]{1,64}$/;
const STATUS_TOKEN = /^[A-Za-z0-9_.-]{1,64}$/;

interface StatusEntry {
  /** Whether subscribers get `job.failed`. Failures lists what did not arrive: a callback with such a status has arrived. */
  readonly failed: boolean;
  readonly words: string;
}

/** The documented callback statuses. An open set: others are archived and recorded as sent. */
const STATUSES = {
  success: { failed: false, words: 'success' },
  error: { failed: true, words: 'error: the service could not process the job' },
  fetch_error: { failed: true, words: 'fetch_error: the service could not fetch the media' },
  trim_error: { failed: true, words: 'trim_error: the service could not trim the audio' },
} as const satisfies Readonly<Record<string, StatusEntry>>;

export type KnownCallbackStatus = keyof typeof STATUSES;

export const KNOWN_CALLBACK_STATUSES = Object.keys(STATUSES) as readonly KnownCallbackStatus[];

/** What the service reports about a job. */
export function callbackStatusInWords(status: string): string {
  return known(status)?.words ?? status;
}

/** Whether the service reports a failure, as far as the status is documented. */
export function isFailedStatus(status: string | null): boolean {
  return status !== null && known(status)?.failed === true;
}

/** Status of the test callbacks of `doctor`: there is no such job. */
export const TEST_STATUS = 'doctor';

/** Whether a status says that something went wrong with a job, also one that is not documented: it has no transcript, or not all of it. */
export function isUnsuccessful(status: string | null): status is string {
  return status !== null && status !== 'success' && status !== TEST_STATUS;
}

function known(status: string): StatusEntry | undefined {
  return Object.hasOwn(STATUSES, status) ? STATUSES[status as KnownCallbackStatus] : undefined;
}

export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

export function isCallbackStatus(text: string): boolean {
  return STATUS_TOKEN.test(text);
}
