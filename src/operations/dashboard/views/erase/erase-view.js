import { currentSession, may } from '../../lib/api/session.js';
import { submitButton } from '../../lib/elements/button.js';
import { h, kept } from '../../lib/elements/dom.js';
import { field, textOf } from '../../lib/elements/field.js';
import { emptyPanel, heading, problemPanel } from '../../lib/elements/panels.js';
import { previewJobs } from './erasure-calls.js';
import { previewPanel } from './preview-panel.js';

/** @import { FormEvent } from '../../lib/elements/element-types.js' */
/** @import { Screen } from '../../lib/screen/screen.js' */

/**
 * Erases all jobs of a context, or of a list: previewed, confirmed, with a report.
 * @param {Screen} screen
 */
export function eraseView(screen) {
  screen.start('Erase jobs');
  const title = heading('Erase jobs');
  if (!may('erase')) return screen.render(title, emptyPanel('This token may not erase.'));
  const { query } = screen.route;
  screen.render(
    title,
    h(
      'p',
      { class: 'prose', 'data-key': 'about' },
      'For a customer who asks to be deleted: everything that is stored of the jobs is removed, old versions included. The jobs stay erased: later callbacks and recovery store nothing of them. The ledger keeps their ids, addresses and context. A job whose callback was lost is found only once it was fetched: run transcript-receiver reconcile --since 7d ten minutes after the last job has ended, or later. You can stop, close the page and start again: it goes on with what is left.',
    ),
    kept('section', { class: 'prose', 'aria-label': 'Erase', 'data-key': 'form' }, String(query), () => {
      const result = h('div', { 'aria-live': 'polite' });
      const form = eraseForm(query.get('context') ?? '', result);
      if (query.has('context')) preview(form, result);
      return [form, result];
    }),
  );
}

/** @param {string} context @param {HTMLElement} result */
function eraseForm(context, result) {
  const onsubmit = (/** @type {FormEvent} */ event) => {
    event.preventDefault();
    preview(event.currentTarget, result);
  };
  return h(
    'form',
    { class: 'panel narrow', onsubmit, oninput: () => result.replaceChildren() },
    field(
      'erase-context',
      'Context, such as customer=acme',
      h('input', { name: 'context', value: context, spellcheck: 'false', autocomplete: 'off' }),
    ),
    field(
      'erase-jobs',
      'Job ids, separated by spaces or lines',
      h('textarea', { name: 'jobs', rows: 2, spellcheck: 'false' }),
    ),
    // An id that is unknown to a token of some sources may be a job of the others.
    currentSession()?.sources === null &&
      h(
        'label',
        { class: 'check' },
        h('input', { type: 'checkbox', name: 'unknown' }),
        ' Also ids about which nothing is known; what arrives of them later is not stored',
      ),
    submitButton('Preview'),
  );
}

/** @param {HTMLFormElement} form @param {HTMLElement} result */
async function preview(form, result) {
  const context = textOf(form, 'context');
  const ids = textOf(form, 'jobs')
    .split(/[\s,]+/)
    .filter(Boolean);
  if (context === '' && ids.length === 0)
    return result.replaceChildren(emptyPanel('Name a context or job ids.'));
  const progress = h('p', { class: 'quiet' }, 'Searching…');
  // The button that was pressed may be about to leave the page.
  if (result.contains(document.activeElement)) form.querySelector('button')?.focus();
  result.replaceChildren(progress);
  // Until the form is changed or the user leaves. The signal of the screen ends when the same view is opened again, and the form stays.
  const isCurrent = () => progress.isConnected;
  const ending = new AbortController();
  try {
    const found = await previewJobs({ context, ids }, ending.signal, (text) => {
      if (!isCurrent()) ending.abort();
      progress.textContent = `${text}…`;
    });
    if (!isCurrent()) return;
    const unknown = new FormData(form).has('unknown');
    const again = () => preview(form, result);
    const typed = ids.length === 0 ? context : null;
    result.replaceChildren(
      previewPanel(found, { context, named: ids.length, unknown, typed, form, result, again }),
    );
  } catch (error) {
    if (isCurrent()) result.replaceChildren(problemPanel(error));
  }
}
