import { notIndexedInWords } from '../../vendor/index/index-extent.js';
import { serverNow } from '../api/admin-api.js';
import { describeProblem } from '../api/describe-problem.js';
import { to, toJob } from '../screen/route.js';
import { ago, clock } from '../text/format.js';
import { outcomeOf } from '../text/ledger-terms.js';
import { copyButton } from './copy-button.js';
import { h, link } from './dom.js';
import { shape, status } from './status.js';

/** @import { Health, LedgerLine } from '../api/api-answers.js' */
/** @import { TimeWindow } from '../../vendor/index/index-extent.js' */
/** @import { Child } from './element-types.js' */

/** Components that several views share. */

/** @param {string} text @param {...Child} beside */
export function heading(text, ...beside) {
  return h('div', { class: 'heading', 'data-key': 'heading' }, h('h1', { tabindex: '-1' }, text), ...beside);
}

/**
 * A part of a view under a heading of its own.
 * @param {{id: string, title: string, key?: string, look?: string, beside?: Child}} head `look`: its classes; `beside` the heading
 * @param {...Child} body
 */
export function section({ id, title, key = id, look, beside }, ...body) {
  const name = h('h2', { id }, title);
  return h(
    'section',
    { class: look, 'aria-labelledby': id, 'data-key': key },
    beside ? h('div', { class: 'heading' }, name, beside) : name,
    ...body,
  );
}

/** @param {string} name */
export function outcomeBadge(name) {
  const { tone, word } = outcomeOf(name);
  return status(tone, word);
}

/**
 * An instant, and how long ago it was.
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
 * @param {Health['verdict']['index']} index @param {TimeWindow} [asked]
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

/**
 * An id with a button that copies it, as a link where it has an address.
 * @param {string} what it is the id of @param {string} id @param {string | null} address
 */
export function idText(what, id, address) {
  const text = h('span', { class: 'mono' }, id);
  return h(
    'span',
    { class: 'id' },
    address === null ? text : link(address, text),
    copyButton(id, `${what} id ${id}`),
  );
}

/** @param {string | null} jobId */
export function jobLink(jobId) {
  return jobId === null ? h('span', { class: 'quiet' }, 'no job') : idText('job', jobId, toJob(jobId));
}

/** The first jobs of an act, folded. @param {string} summary @param {readonly string[]} jobIds */
export function jobList(summary, jobIds) {
  return h(
    'details',
    {},
    h('summary', {}, summary),
    h(
      'ul',
      { class: 'job-ids' },
      jobIds.map((jobId) => h('li', {}, jobLink(jobId))),
    ),
  );
}

/**
 * Address of a delivery: its place on the page of its job.
 * @param {Pick<LedgerLine, 'jobId' | 'deliveryId'>} line
 */
export function toDelivery({ jobId, deliveryId }) {
  return to(`jobs/${encodeURIComponent(jobId ?? '')}`, { delivery: deliveryId });
}
