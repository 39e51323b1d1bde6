import { get } from './admin-api.js';

/** @import { Session } from './api-answers.js' */

/**
 * What the token of this tab may do. The receiver decides about every request again: this only keeps the page from
 * offering what would be rejected.
 * @type {Session | null}
 */
let session = null;

export function currentSession() {
  return session;
}

/** Asks the receiver. Rejects with `ApiError`. */
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

/** Whether the token may refetch, and the receiver can ask the service. */
export function canRefetch() {
  return may('repair') && session?.canAskService === true;
}

/** Whether the token may begin a run of reconcile, which covers all sources. */
export function canReconcile() {
  return canRefetch() && session?.sources === null;
}
