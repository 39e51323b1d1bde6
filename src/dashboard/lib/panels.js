import { copyButton } from './copy-button.js';
import { describeProblem } from './describe-problem.js';
import { h, link } from './dom.js';
import { ago, clock, localOfInstant } from './format.js';
import { to } from './route.js';
import { shape, status } from './status.js';
import { zoneName } from './time-zone.js';
import { outcomeOf } from './words.js';

/** @import { LedgerLine } from '../api-answers.js' */
/** @import { Child } from './element-types.js' */

/**
 * @typedef {[value: string, label: string]} Option
 * @typedef {{key: string, cells: Child[]}} Row
 */

/** Pieces that several views are made of. */

/** @param {string} text @param {...Child} beside */
export function heading(text, ...beside) {
  return h('div', { class: 'heading', 'data-key': 'heading' }, h('h1', { tabindex: '-1' }, text), ...beside);
}

/** @param {string} name */
export function outcomeBadge(name) {
  const { tone, word } = outcomeOf(name);
  return status(tone, word);
}

/**
 * The moment in the reader's zone, with how long ago it is.
 * @param {string | null} instant @param {number} [now]
 */
export function moment(instant, now = Date.now()) {
  if (!instant) return h('span', { class: 'quiet' }, 'never');
  return h(
    'time',
    { datetime: instant, title: String(instant) },
    clock(instant, now),
    ' ',
    h('span', { class: 'quiet' }, ago(instant, now)),
  );
}

/**
 * What the API said and what to do about it.
 * @param {unknown} error @param {...Child} actions
 */
export function problemPanel(error, ...actions) {
  const { title, message, advice } = describeProblem(error);
  return h(
    'div',
    { class: 'panel bad', role: 'alert', 'data-key': 'problem' },
    h('p', { class: 'lead' }, shape('bad'), title),
    message !== title && h('p', {}, message),
    h('p', {}, advice),
    actions,
  );
}

/**
 * Nothing here, and what to do next.
 * @param {string} title @param {...Child} body
 */
export function emptyPanel(title, ...body) {
  return h('div', { class: 'panel empty', 'data-key': 'empty' }, h('p', { class: 'lead' }, title), ...body);
}

export function loadingPanel() {
  return h('p', { class: 'quiet', 'data-key': 'loading' }, 'Loading…');
}

/**
 * A term with its value, for `<dl class="facts">`.
 * @param {string} term @param {...Child} value
 */
export function fact(term, ...value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, ...value));
}

/** @param {string | null} jobId */
export function jobLink(jobId) {
  if (jobId === null || jobId === undefined) return h('span', { class: 'quiet' }, 'no job');
  return h(
    'span',
    { class: 'id' },
    link(`#/jobs/${encodeURIComponent(jobId)}`, h('span', { class: 'mono' }, jobId)),
    copyButton(jobId, `job id ${jobId}`),
  );
}

/**
 * Where a delivery is told of: on the page of its job.
 * @param {Pick<LedgerLine, 'jobId' | 'deliveryId'>} line
 */
export function toDelivery({ jobId, deliveryId }) {
  return to(`jobs/${encodeURIComponent(jobId ?? '')}`, { delivery: deliveryId });
}

/**
 * A table that becomes a list of cards on narrow screens. The roles are written out because browsers drop them
 * when a table is not laid out as one.
 * @param {{caption: string, columns: string[], rows: Row[], key?: string}} content
 */
export function table({ caption, columns, rows, key = caption }) {
  return h(
    'table',
    { role: 'table', class: 'cards', 'data-key': key },
    h('caption', { class: 'unseen' }, caption),
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        columns.map((name) => h('th', { role: 'columnheader', scope: 'col' }, name)),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      rows.map((row) => tableRow(columns, row)),
    ),
  );
}

/** @param {string[]} columns @param {Row} row */
function tableRow(columns, { key, cells }) {
  return h(
    'tr',
    { role: 'row', 'data-key': key },
    cells.map((cell, index) => h('td', { role: 'cell', 'data-label': columns[index] }, cell)),
  );
}

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
 * A field for an instant; its label says in which zone it is read.
 * @param {string} id @param {string} name @param {string} label @param {string} instant
 */
export function instantField(id, name, label, instant) {
  const control = h('input', { name, type: 'datetime-local', step: 1, value: localOfInstant(instant) });
  return field(id, [`${label} `, h('span', { class: 'zone' }, zoneName())], control);
}

/** @param {string} name @param {Option[]} options @param {string} [chosen] */
export function choices(name, options, chosen = '') {
  return h(
    'select',
    { name },
    options.map(([value, label]) => h('option', { value, selected: value === chosen }, label)),
  );
}

/**
 * What a field of a form holds, without the spaces around it.
 * @param {HTMLFormElement} form @param {string} name
 */
export function textOf(form, name) {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
