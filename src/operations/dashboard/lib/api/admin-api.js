import { forgetToken, token } from './token.js';

/** @import { DeleteAnswers, GetAnswers, PostAnswers } from './api-answers.js' */

/** A problem that the admin API answered, or that no answer arrived (status 0). */
export class ApiError extends Error {
  /** @param {{status: number, code?: string, title?: string, detail?: string}} problem */
  constructor({ status, code, title, detail }) {
    super(detail || title || `The receiver answered ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code ?? 'unknown';
    this.title = title ?? 'The request failed';
  }
}

/**
 * For `catch`: the problem with this code in place of an answer, for a view that shows it. Any other error is thrown on.
 * @param {string} code
 */
export function problemWith(code) {
  return (/** @type {unknown} */ error) => {
    if (error instanceof ApiError && error.code === code) return error;
    throw error;
  };
}

/** Relative to the page, so that a balancer can serve it below a path prefix. */
export const API = 'admin/api';
/** Milliseconds. Changes have no limit, because they can move media. */
const READ_TIMEOUT = 30_000;
let notifySignedOut = () => {};

/**
 * Called when the API rejects the token.
 * @param {() => void} listener
 */
export function onSignedOut(listener) {
  notifySignedOut = listener;
}

/**
 * Empty and absent parameters are left out.
 * @template {keyof GetAnswers} P
 * @param {P} path
 * @param {{query?: Record<string, string | number | null | undefined>, signal?: AbortSignal}} options
 * @returns {Promise<GetAnswers[P]>}
 */
export async function get(path, { query = {}, signal } = {}) {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  );
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const limit = AbortSignal.timeout(READ_TIMEOUT);
  const until = signal ? AbortSignal.any([signal, limit]) : limit;
  return (await call('GET', path + search, { signal: until })).json();
}

/**
 * A `FormData` is sent as a form, any other body as JSON.
 * @template {keyof PostAnswers} P
 * @param {P} path @param {object} [body]
 * @returns {Promise<PostAnswers[P]>}
 */
export async function post(path, body = {}) {
  return (await call('POST', path, contentOf(body))).json();
}

/**
 * @template {keyof DeleteAnswers} P
 * @param {P} path @param {object} [body]
 * @returns {Promise<DeleteAnswers[P]>}
 */
export async function remove(path, body = {}) {
  return (await call('DELETE', path, contentOf(body))).json();
}

/**
 * The answer itself, for bodies that are not JSON.
 * @param {string} path @param {AbortSignal} signal
 */
export function fetchRaw(path, signal) {
  return call('GET', path, { signal });
}

/** @param {object} body @returns {RequestInit} */
function contentOf(body) {
  if (body instanceof FormData) return { body };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** Milliseconds by which the receiver's clock was ahead of the browser's when it last answered. */
let ahead = 0;

/** @param {string | null} date */
function noteServerTime(date) {
  const time = Date.parse(date ?? '');
  if (Number.isFinite(time)) ahead = time - Date.now();
}

/** The time by the receiver's clock, in milliseconds since the epoch: what it answers is by that. */
export function serverNow() {
  return Date.now() + ahead;
}

/** @param {string} method @param {string} path @param {RequestInit} request */
async function call(method, path, { headers = {}, ...rest }) {
  const bearer = token();
  let response;
  try {
    response = await fetch(API + path, {
      method,
      headers: {
        ...headers,
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      },
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      ...rest,
    });
  } catch (error) {
    if (rest.signal?.aborted && error instanceof Error && error.name === 'AbortError') throw error;
    throw new ApiError({ status: 0, code: 'unreachable', title: 'The receiver cannot be reached' });
  }
  noteServerTime(response.headers.get('date'));
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) {
    forgetToken();
    notifySignedOut();
  }
  throw new ApiError({ ...problem, status: response.status });
}
