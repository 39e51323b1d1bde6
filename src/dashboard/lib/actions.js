import { adviceFor } from './advice.js';
import { announce } from './notice.js';

/**
 * Runs an order of the reader behind a button: the button cannot be pressed twice, and what came of it is
 * announced. `order` gives the words for success. Tells whether it succeeded.
 */
export async function act(button, order) {
  if (button.getAttribute('aria-disabled') === 'true') return false;
  button.setAttribute('aria-disabled', 'true');
  try {
    const said = await order();
    if (said) announce(said.text ?? said, said.tone ?? 'good');
    return true;
  } catch (error) {
    if (error.status !== 401)
      announce(`${error.title ?? 'Something went wrong'}: ${error.message} ${adviceFor(error)}`, 'bad');
    return false;
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
