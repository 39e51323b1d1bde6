import { button } from '../../lib/elements/button.js';
import { h } from '../../lib/elements/dom.js';
import { announce } from '../../lib/elements/notice.js';
import { count } from '../../lib/text/format.js';
import { eraseJobs } from './erasure-calls.js';
import { reportPanel } from './report-panel.js';

/** @import { ButtonEvent } from '../../lib/elements/element-types.js' */
/** @import { ErasureSelector } from '../../vendor/erasure-totals.js' */
/** @import { ReportLine } from './erasure-calls.js' */
/** @import { Found } from './report-panel.js' */

/**
 * @typedef {object} Place
 * @property {HTMLElement} form hidden meanwhile
 * @property {HTMLElement} result where progress and report are shown; when it leaves the page, no further batch is begun
 * @property {() => void} again previews what is left
 */

/**
 * Erases jobs, and shows how far it is and then the report.
 * @param {{ids: readonly string[], unknown: boolean, reason: string | undefined}} order
 * @param {ErasureSelector} selector @param {Found} found @param {Place} place
 */
export async function runErasure({ ids, ...order }, selector, found, { form, result, again }) {
  const startedAt = new Date().toISOString();
  /** @type {ReportLine[]} */
  const lines = [];
  const progress = progressPanel(ids.length);
  form.hidden = true;
  result.replaceChildren(progress.panel);
  progress.stopButton.focus();
  /** @type {unknown} */
  let error = null;
  try {
    for await (const report of eraseJobs(ids, order)) {
      lines.push(...report);
      progress.show(lines.length);
      if (progress.isStopped() || !result.isConnected) break;
    }
  } catch (caught) {
    error = caught;
  }
  const left = ids.length - lines.length;
  if (!result.isConnected) {
    const done = `${count(lines.length)} of ${count(ids.length, 'job')} were erased`;
    if (left > 0) announce(`${done}, then this page was left.`, 'notice');
    return;
  }
  form.hidden = false;
  result.replaceChildren(reportPanel({ lines, left, error, run: { startedAt, selector } }, found, again));
  result.querySelector('button')?.focus();
}

/** @param {number} total */
function progressPanel(total) {
  let isStopped = false;
  const text = h('span', {});
  const bar = h('progress', { max: total, value: 0, 'aria-label': 'Erased jobs' });
  const stop = (/** @type {ButtonEvent} */ { currentTarget }) => {
    isStopped = true;
    currentTarget.disabled = true;
    currentTarget.textContent = 'Stopping…';
  };
  const stopButton = button('Stop', stop, 'plain');
  const show = (/** @type {number} */ done) => {
    bar.value = done;
    text.textContent = `${count(done)} of ${count(total, 'job')}`;
  };
  show(0);
  const panel = h(
    'div',
    { class: 'panel' },
    h('div', { class: 'progress' }, bar, text),
    h('div', { class: 'buttons' }, stopButton),
  );
  return { panel, stopButton, show, isStopped: () => isStopped };
}
