import { ApiError } from './admin-api.js';

/** @type {Record<string, string>} */ const ADVICE = {
  unreachable:
    'Check that the receiver runs and that this machine reaches its admin port. This page keeps trying.',
  'credential-invalid':
    'Sign in again with a token from the configuration, or from the link printed at the start.',
  'too-many-attempts': 'Wait a minute before the next attempt.',
  'not-found': 'Check the id. What was erased, or is older than the ledger, is not found either.',
  conflict:
    'If the message names a setting, set it. Otherwise reload and look at its state: another person or an earlier click may have done it already.',
  'body-too-large':
    'The file is larger than this source accepts (maxBytes of the source). Raise the limit or send a smaller file.',
  'request-invalid': 'Correct what is named and try again.',
  'service-unreachable':
    'Check speech.apiKey and the region’s batchUrl, then run: transcript-receiver doctor. Nothing was changed.',
  'store-unavailable':
    'The store is in trouble: see the Store tile of the overview. Nothing was changed; try again once the store works.',
  'write-race': 'Another delivery wrote the same artefact at this moment. Try again.',
  overloaded: 'The receiver is busy with live traffic. Try again in a few seconds.',
  draining: 'This replica is shutting down. Reload the page to reach another one.',
  internal: 'The receiver’s log has the reason: event “unexpected”, at this time.',
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
    advice: ADVICE[code] ?? 'Try again. If it keeps failing, look into the receiver’s log.',
  };
}
