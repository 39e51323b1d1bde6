import { h } from './dom.js';

/** @import { ButtonEvent, Child } from './element-types.js' */

/**
 * @param {Child} label @param {(event: ButtonEvent) => unknown} onclick
 * @param {string} [look] its classes: `plain`, `danger`, `small`
 */
export function button(label, onclick, look) {
  return h('button', { type: 'button', class: look, onclick }, label);
}

/** @param {string} label */
export function submitButton(label) {
  return h('div', { class: 'buttons' }, h('button', { type: 'submit' }, label));
}

/**
 * Buttons of which one is pressed.
 * @param {string} label @param {readonly {key: string, text: string, isPressed: boolean}[]} options @param {(key: string) => void} choose
 */
export function switchButtons(label, options, choose) {
  return h(
    'div',
    { class: 'switch', role: 'group', 'aria-label': label },
    options.map(({ key, text, isPressed }) =>
      h(
        'button',
        { type: 'button', 'data-key': key, 'aria-pressed': String(isPressed), onclick: () => choose(key) },
        text,
      ),
    ),
  );
}

/**
 * Text for screen readers alone, such as what a button of a row is for.
 * @param {string} text
 */
export function unseen(text) {
  return h('span', { class: 'unseen' }, text);
}
