import { ApiError } from '../api/admin-api.js';
import { describeProblem } from '../api/describe-problem.js';
import { announce } from './notice.js';

/** @import { Announcement } from './notice.js' */

/**
 * Runs an order of the reader behind a button: the button cannot be pressed twice, and what came of it is
 * announced. `order` gives the words for success. Tells whether it succeeded.
 * @param {HTMLButtonElement | null} button @param {() => Promise<string | Announcement | null>} order
 */
export async function runAction(button, order) {
  if (button === null || button.getAttribute('aria-disabled') === 'true') return false;
  button.setAttribute('aria-disabled', 'true');
  try {
    const said = await order();
    if (typeof said === 'string') announce(said);
    else if (said !== null) announce(said.text, said.tone);
    return true;
  } catch (error) {
    const { title, message, advice } = describeProblem(error);
    const isSignedOut = error instanceof ApiError && error.status === 401;
    if (!isSignedOut) announce(`${title}: ${message} ${advice}`, 'bad');
    return false;
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
