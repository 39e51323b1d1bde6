import { get } from './admin-api.js';

/** @import { Session } from './api-answers.js' */

/**
 * The rights of this tab's token. The receiver checks every request itself: these only hide what it would reject.
 * @type {Session | null}
 */
let session = null;

export function currentSession() {
  return session;
}

/** Rejects with `ApiError`. */
export async function loadSession() {
  keepSession(await get('/session'));
}

/** @param {Session} value */
export function keepSession(value) {
  session = value;
}

export function forgetSession() {
  session = null;
}

/** @param {Session['may'][number]} right */
export function may(right) {
  return session?.may.includes(right) ?? false;
}

/** Whether the token may refetch, and the receiver has access to the service. */
export function canRefetch() {
  return may('repair') && session?.canAskService === true;
}

/** Whether the token may start a run of reconcile, which covers all sources. */
export function canReconcile() {
  return canRefetch() && session?.sources === null;
}
