import { ApiError } from './admin-api.js';

/** @type {Record<string, string>} */
const ADVICE = {
  unreachable:
    'Check that the receiver is running and that this machine can reach its admin port. This page keeps retrying.',
  'credential-invalid':
    'Sign in again with a token from the configuration, or with the link that the receiver prints at start.',
  'cross-site': 'Open the dashboard at its own address, not from within another page.',
  'right-missing': 'Sign in with a token that has this right, or ask the operator of the receiver for it.',
  'scope-exceeded': 'Ask an operator whose token covers every source of the job.',
  'too-many-attempts': 'Wait a minute before the next attempt.',
  'not-found': 'Check the id. It may have been erased, or be older than the ledger.',
  conflict:
    'If the message names a setting, set it. Otherwise reload the page: someone else or an earlier click may have done this already.',
  'body-too-large':
    'The file is larger than this source accepts (maxBytes of the source). Raise the limit or send a smaller file.',
  'request-invalid': 'Correct the input that the message names and try again.',
  'service-unreachable':
    'Check speech.apiKey and the region’s batchUrl, then run: transcript-receiver doctor. Nothing was changed.',
  'store-unavailable':
    'The store is unavailable: see the Store tile of the overview. Nothing was changed; try again when the store works.',
  'write-race': 'Another delivery wrote the same artefact at the same time. Try again.',
  overloaded: 'The receiver is overloaded. Try again in a few seconds.',
  draining: 'This replica is shutting down. Reload the page to reach another one.',
  internal: 'See the receiver’s log: event “unexpected”, at this time.',
};

/**
 * What went wrong and what to do about it.
 * @param {unknown} error
 */
export function describeProblem(error) {
  const { title, code } = error instanceof ApiError ? error : { title: 'Something went wrong', code: '' };
  return {
    title,
    message: error instanceof Error ? error.message : String(error),
    advice: ADVICE[code] ?? 'Try again. If it keeps failing, see the receiver’s log.',
  };
}
