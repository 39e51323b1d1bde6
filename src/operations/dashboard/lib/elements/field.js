import { localOfInstant, zoneName } from '../text/format.js';
import { h } from './dom.js';

/** @import { Child } from './element-types.js' */

/** @typedef {[value: string, label: string]} Option */

/**
 * A labelled field; `control` gets the id the label points to.
 * @param {string} id @param {Child} label @param {HTMLElement} control @param {string} [hint]
 */
export function field(id, label, control, hint) {
  control.id = id;
  if (hint) control.setAttribute('aria-describedby', `${id}-hint`);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    control,
    hint && h('p', { class: 'hint', id: `${id}-hint` }, hint),
  );
}

/**
 * A field for an instant; its label names the zone.
 * @param {string} id @param {string} name @param {string} label @param {string} instant
 */
export function instantField(id, name, label, instant) {
  const value = localOfInstant(instant);
  // Without a bound a year takes six digits, and what is typed after four of them goes into it.
  const control = h('input', { name, type: 'datetime-local', step: 1, max: '9999-12-31T23:59:59', value });
  return field(id, [`${label} `, h('span', { class: 'zone' }, zoneName())], control);
}

/** @param {string} name @param {readonly Option[]} options @param {string} [chosen] */
export function choices(name, options, chosen = '') {
  return h(
    'select',
    { name },
    options.map(([value, label]) => h('option', { value, selected: value === chosen }, label)),
  );
}

/**
 * The value of a form field, trimmed.
 * @param {HTMLFormElement} form @param {string} name
 */
export function textOf(form, name) {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
