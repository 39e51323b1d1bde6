import type { CallbackStatus, JobRecord } from '../../speech/wire.js';

/** What the first error of a rejected job says where its callback has a status of its own; the interface leaves the words open. */
const CAUSES: readonly (readonly [message: RegExp, status: CallbackStatus])[] = [
  [/\bfetch(ing)?\b/i, 'fetch_error'],
  [/\btrim(ming)?\b/i, 'trim_error'],
];

/** The status that the callback of a job carries; null while it is running, and where its end is not known any more. */
export function callbackStatusOf({ status, errors = [] }: JobRecord): CallbackStatus | null {
  if (status === 'done') return 'success';
  if (status !== 'rejected') return null;
  const own = errors.filter(({ message }) => !/notification/i.test(message));
  const cause = CAUSES.find(([pattern]) => own.some(({ message }) => pattern.test(message)));
  return cause?.[1] ?? 'error';
}
