import { forgetToken, token } from './session.js';

/** What the admin API answered instead of doing it. */
export class ApiError extends Error {
  constructor({ status, code, title, detail }) {
    super(detail || title || `The receiver answered ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code ?? 'unknown';
    this.title = title ?? 'The request failed';
  }
}

/** Milliseconds a question may take; orders that move media may take as long as they need. */
const PATIENCE = 30_000;
let tellSignedOut = () => {};

/** Called when the API does not know the token (any more). */
export function onSignedOut(listener) {
  tellSignedOut = listener;
}

/** Empty and absent parameters are left out. */
export function get(path, { query = {}, signal } = {}) {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const limit = AbortSignal.timeout(PATIENCE);
  return call('GET', path + search, { signal: signal ? AbortSignal.any([signal, limit]) : limit }).then(json);
}

/** `body` is sent as JSON, a `FormData` as a form. */
export function send(method, path, body) {
  const isForm = body instanceof FormData;
  return call(method, path, {
    body: isForm ? body : JSON.stringify(body ?? {}),
    headers: isForm ? {} : { 'content-type': 'application/json' },
  }).then(json);
}

/** The answer itself, for bodies that are not JSON. */
export function fetchRaw(path, signal) {
  return call('GET', path, { signal });
}

async function call(method, path, { headers = {}, ...rest }) {
  const bearer = token();
  let response;
  try {
    response = await fetch(`/admin/api${path}`, {
      method,
      headers: { ...headers, ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }) },
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      ...rest,
    });
  } catch (error) {
    if (rest.signal?.aborted && error.name === 'AbortError') throw error;
    throw new ApiError({ status: 0, code: 'unreachable', title: 'The receiver cannot be reached' });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) {
    forgetToken();
    tellSignedOut();
  }
  throw new ApiError({ ...problem, status: response.status });
}

async function json(response) {
  const text = await response.text();
  return text === '' ? null : JSON.parse(text);
}
