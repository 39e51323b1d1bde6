import { ApiError } from '../api/admin-api.js';
import { problemInWords } from '../api/describe-problem.js';
import { confirmDialog } from './confirm-dialog.js';
import { announce } from './notice.js';

/** @import { Agreed, Question } from './confirm-dialog.js' */
/** @import { ButtonEvent } from './element-types.js' */
/** @import { Announcement } from './notice.js' */
/** @import { Refresh } from '../screen/screen.js' */

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

/**
 * What a button does that asks before it acts, with what the question has to know first. `again` refreshes the view afterwards.
 * @param {() => Question | Promise<Question | null>} ask null where there is nothing to do
 * @param {(agreed: Agreed) => Promise<string | Announcement | null>} act @param {Refresh} [again]
 */
export function confirmed(ask, act, again) {
  return async (/** @type {ButtonEvent} */ { currentTarget }) => {
    /** @type {Agreed | null} */
    let agreed = null;
    await runAction(currentTarget, async () => {
      const question = await ask();
      agreed = question && (await confirmDialog(question));
      return agreed && act(agreed);
    });
    if (agreed !== null) await again?.();
  };
}
