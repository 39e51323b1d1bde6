import { button } from './button.js';
import { h } from './dom.js';
import { field } from './field.js';

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {string | HTMLElement} body
 * @property {string} confirm label of the button that agrees
 * @property {string} [typed] text that the user must type first
 * @property {boolean} [danger]
 * @property {boolean} [askReason] default true
 * @property {boolean} [reasonRequired]
 *
 * @typedef {{reason: string | undefined}} Agreed
 */

/**
 * Asks for confirmation. Resolves with the reason, or with null if the user cancels by button or Escape. The focus
 * returns to the element that had it.
 * @param {Question} question @returns {Promise<Agreed | null>}
 */
export function confirmDialog({
  title,
  body,
  confirm,
  typed,
  danger = false,
  askReason = true,
  reasonRequired = false,
}) {
  return new Promise((resolve) => {
    const reason = h('input', {
      name: 'reason',
      maxlength: 500,
      autocomplete: 'off',
      required: reasonRequired,
    });
    const proof = h('input', { name: 'proof', autocomplete: 'off', spellcheck: 'false', required: true });
    const go = h(
      'button',
      { type: 'submit', class: danger ? 'danger' : null, disabled: typed !== undefined },
      confirm,
    );
    proof.oninput = () => {
      go.disabled = proof.value.trim() !== typed;
    };
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'dialog-title' },
      h(
        'form',
        { onsubmit: (event) => finish(event, true) },
        h('h2', { id: 'dialog-title' }, title),
        typeof body === 'string' ? h('p', {}, body) : body,
        typed !== undefined && field('dialog-proof', `Type ${typed} to confirm`, proof),
        askReason && field('dialog-reason', 'Reason (recorded in the ledger)', reason),
        h(
          'div',
          { class: 'buttons' },
          go,
          button('Cancel', () => finish(null, false), 'plain'),
        ),
      ),
    );
    /** @param {Event | null} event @param {boolean} agreed */
    function finish(event, agreed) {
      event?.preventDefault();
      dialog.close();
      dialog.remove();
      resolve(agreed ? { reason: reason.value.trim() || undefined } : null);
    }
    dialog.oncancel = (event) => finish(event, false);
    document.body.append(dialog);
    dialog.showModal();
  });
}
