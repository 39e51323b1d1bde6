/**
 * A job of the speech service, as far as a receiver knows it (docs/service-interface.md).
 */

/** Ids the service issues are short and URL-safe; anything else never becomes part of a key. */
const JOB_ID = /^[A-Za-z0-9_-]{1,64}$/;
const STATUS_TOKEN = /^[A-Za-z0-9_.-]{1,64}$/;

/** The documented callback statuses. An open set: others are archived and recorded as sent. */
export const KNOWN_CALLBACK_STATUSES = ['success', 'error', 'fetch_error', 'trim_error'] as const;

const STATUSES: Readonly<Record<(typeof KNOWN_CALLBACK_STATUSES)[number], string>> = {
  success: 'success',
  error: 'error: the service could not process the job',
  fetch_error: 'fetch_error: the service could not fetch the media',
  trim_error: 'trim_error: the service could not trim the audio',
};

/** What the service reports about a job. */
export function callbackStatusInWords(status: string): string {
  return Object.hasOwn(STATUSES, status) ? STATUSES[status as keyof typeof STATUSES] : status;
}

export function isJobId(text: string): boolean {
  return JOB_ID.test(text);
}

export function isCallbackStatus(text: string): boolean {
  return STATUS_TOKEN.test(text);
}
