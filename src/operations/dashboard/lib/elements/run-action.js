import { ApiError } from '../api/admin-api.js';
import { problemInWords } from '../api/describe-problem.js';
import { announce } from './notice.js';

/** @import { Announcement } from './notice.js' */

/**
 * Runs the action of a button: the button cannot be pressed again meanwhile, and the result is announced, unless the view
 * was left. `action` returns the text for success. Resolves with whether it succeeded.
 * @param {HTMLButtonElement | null} button @param {() => Promise<string | Announcement | null>} action
 */
export async function runAction(button, action) {
  if (button === null || button.getAttribute('aria-disabled') === 'true') return false;
  button.setAttribute('aria-disabled', 'true');
  try {
    const result = await action();
    if (typeof result === 'string') announce(result);
    else if (result !== null) announce(result.text, result.tone);
    return true;
  } catch (error) {
    const isSignedOut = error instanceof ApiError && error.status === 401;
    // A view aborts its requests when it closes; its content, with its buttons, stays until the next one is drawn.
    const isLeft = error instanceof Error && error.name === 'AbortError';
    if (!isSignedOut && !isLeft) announce(problemInWords(error), 'bad');
    return false;
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
