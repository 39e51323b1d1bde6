import { remedyFor } from '../../vendor/reasons.js';
import { ApiError } from './admin-api.js';

/**
 * What to do where the page's own request failed, unlike a callback for the same reason.
 * @type {Record<string, string>}
 */
const ADVICE = {
  unreachable: 'Check that the receiver is running and that this machine can reach its admin port.',
  'credential-invalid':
    'Sign in again with a token from the configuration, or with the link that the receiver prints at start.',
  'body-too-large':
    'The file is larger than this source accepts (maxBytes of the source). Raise the limit or send a smaller file.',
  'store-unavailable': 'See the Store tile of the overview, and try again when the store works.',
  'write-race': 'Another delivery wrote the same artefact at the same time. Try again.',
  overloaded: 'The receiver is overloaded. Try again in a few seconds.',
  draining: 'This replica is shutting down. Reload the page to reach another one.',
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
    advice: ADVICE[code] ?? remedyFor(code) ?? 'Try again. If it keeps failing, see the receiver’s log.',
  };
}

/**
 * The same in one line.
 * @param {unknown} error
 */
export function problemInWords(error) {
  const { title, message, advice } = describeProblem(error);
  return `${title}${message === title ? '.' : `: ${message}`} ${advice}`;
}
