import { notIndexedInWords } from '../../vendor/index/index-extent.js';
import { serverNow } from '../api/admin-api.js';
import { describeProblem } from '../api/describe-problem.js';
import { to } from '../screen/route.js';
import { ago, clock } from '../text/format.js';
import { outcomeOf } from '../text/ledger-terms.js';
import { copyButton } from './copy-button.js';
import { h, link } from './dom.js';
import { shape, status } from './status.js';

/** @import { Health, LedgerLine } from '../api/api-answers.js' */
/** @import { AskedTime } from '../../vendor/index/index-extent.js' */
/** @import { Child } from './element-types.js' */

/**
 * @typedef {{key: string, cells: Child[]}} Row
 */

/** Components that several views share. */

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
 * An instant in the chosen zone, and how long ago it was.
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

/** When the first and the last of like events were; one instant for a single one. @param {string} first @param {string} last */
export function firstAndLast(first, last) {
  return h(
    'p',
    { class: 'detail' },
    first === last ? moment(first) : ['First ', moment(first), ', last ', moment(last), '.'],
  );
}

/**
 * What the index lacks of the lines that a view asks for, until now unless it says otherwise; null where it has all of them.
 * @param {Health['index']} index @param {AskedTime} [asked]
 */
export function indexNote(index, asked = {}) {
  const text = notIndexedInWords(index, { until: serverNow(), ...asked }, clock);
  return text === null ? null : h('p', { class: 'quiet', 'data-key': 'index' }, text);
}

/**
 * A problem and what to do about it.
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
 * Says that there is nothing to show, and what to do next.
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
 * Address of a delivery: its place on the page of its job.
 * @param {Pick<LedgerLine, 'jobId' | 'deliveryId'>} line
 */
export function toDelivery({ jobId, deliveryId }) {
  return to(`jobs/${encodeURIComponent(jobId ?? '')}`, { delivery: deliveryId });
}

/**
 * A table that becomes a list of cards on narrow screens. The roles are written out because browsers drop them
 * when a table is not laid out as one. Styles find a cell by the name of its column, `data-label`.
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
        columns.map((name) => h('th', { role: 'columnheader', scope: 'col', 'data-label': name }, name)),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      rows.map((row) => tableRow(columns, row)),
    ),
  );
}

/** @param {readonly string[]} columns @param {Row} row */
function tableRow(columns, { key, cells }) {
  return h(
    'tr',
    { role: 'row', 'data-key': key },
    cells.map((cell, index) => h('td', { role: 'cell', 'data-label': columns[index] }, cell)),
  );
}
