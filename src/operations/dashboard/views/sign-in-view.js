import { ApiError } from '../lib/api/admin-api.js';
import { describeProblem } from '../lib/api/describe-problem.js';
import { loadSession } from '../lib/api/session.js';
import { forgetToken, keepToken } from '../lib/api/token.js';
import { h } from '../lib/elements/dom.js';
import { field } from '../lib/elements/field.js';
import { heading } from '../lib/elements/panels.js';

/** @import { FormEvent } from '../lib/elements/element-types.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * Asks for a token and checks it against the API.
 * @param {() => void} onSignedIn @returns {(screen: Screen) => void}
 */
export function signInView(onSignedIn) {
  return (screen) => {
    screen.start('Sign in');
    const input = h('input', {
      type: 'password',
      name: 'token',
      autocomplete: 'current-password',
      required: true,
      spellcheck: 'false',
    });
    const fault = h('p', { class: 'fault', role: 'alert' });
    const form = h(
      'form',
      {
        class: 'panel narrow',
        'data-key': 'sign-in',
        'data-keep': 'sign-in',
        onsubmit: (event) => attempt(event, input, fault, onSignedIn),
      },
      field(
        'token',
        'Token',
        input,
        'One of admin.tokens in the configuration. If none is configured, the receiver prints a link at start that opens this page signed in.',
      ),
      fault,
      h('button', { type: 'submit' }, 'Sign in'),
    );
    screen.render(heading('Sign in to Transcript Receiver'), form);
    input.focus();
  };
}

/**
 * @param {FormEvent} event @param {HTMLInputElement} input @param {HTMLElement} fault
 * @param {() => void} onSignedIn
 */
async function attempt(event, input, fault, onSignedIn) {
  event.preventDefault();
  fault.textContent = '';
  keepToken(input.value.trim());
  try {
    await loadSession();
    onSignedIn();
  } catch (error) {
    forgetToken();
    const isUnknown = error instanceof ApiError && error.code === 'credential-invalid';
    fault.textContent = isUnknown
      ? 'Invalid token. Check that it is complete, and still configured.'
      : describeProblem(error).message;
    input.focus();
    input.select();
  }
}
