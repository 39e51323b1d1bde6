import { post } from '../../lib/api/admin-api.js';
import { may } from '../../lib/api/session.js';
import { button, submitButton } from '../../lib/elements/button.js';
import { h, kept } from '../../lib/elements/dom.js';
import { choices, field, textOf } from '../../lib/elements/field.js';
import { runAction } from '../../lib/elements/run-action.js';
import { itemsOf } from '../../lib/text/describe-line.js';
import { capital } from '../../lib/text/format.js';
import { kindInWords, outcomeOf } from '../../lib/text/ledger-terms.js';
import { ITEM_KINDS } from '../../vendor/kinds.js';

/** @import { FormEvent } from '../../lib/elements/element-types.js' */
/** @import { Option } from '../../lib/elements/field.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/** @type {Option[]} */
const KINDS = [
  ['', 'Detect from content'],
  ...ITEM_KINDS.map((kind) => /** @type {Option} */ ([kind, capital(kindInWords(kind))])),
];
/** @type {Option[]} */
const JOBS = [
  ['', 'This job only'],
  ['true', 'Any job'],
];

/**
 * Imports files under the rules of a callback.
 * @param {string} jobId @param {Refresh} again
 */
export function importSection(jobId, again) {
  if (!may('repair')) return null;
  const onsubmit = (/** @type {FormEvent} */ event) => importFiles(event, jobId, again);
  const form = kept('form', { class: 'filters', onsubmit }, jobId, () => [
    field('import-file', 'File', h('input', { type: 'file', name: 'file', required: true })),
    field('import-kind', 'Kind', choices('kind', KINDS)),
    field(
      'import-source',
      'Source',
      h('input', { name: 'source', size: 10, autocomplete: 'off', placeholder: 'default' }),
    ),
    field('import-other-job', 'Job in the file', choices('otherJob', JOBS)),
    field('import-reason', 'Reason', h('input', { name: 'reason', maxlength: 500, autocomplete: 'off' })),
    submitButton('Import'),
  ]);
  return h(
    'details',
    { id: 'import', class: 'panel', 'data-key': 'import' },
    h('summary', {}, 'Import files'),
    h(
      'p',
      { class: 'quiet' },
      'For results that the service no longer has. Stored artefacts are not changed; different bytes are stored next to them as a conflict.',
    ),
    form,
  );
}

/** @param {FormEvent} event @param {string} jobId @param {Refresh} again */
async function importFiles(event, jobId, again) {
  event.preventDefault();
  const form = event.currentTarget;
  const done = await runAction(form.querySelector('button'), async () => {
    const result = await post(`/jobs/${encodeURIComponent(jobId)}/artefacts`, importForm(form));
    const { tone, word } = outcomeOf(result.outcome);
    return { tone, text: `Import: ${word.toLowerCase()}, ${itemsOf(result)}.` };
  });
  if (done) form.reset();
  await again();
}

/**
 * Fields precede the file: the receiver reads the form as a stream and needs them first.
 * @param {HTMLFormElement} form
 */
function importForm(form) {
  const data = new FormData();
  for (const name of ['source', 'kind', 'otherJob', 'reason']) {
    const value = textOf(form, name);
    if (value !== '') data.append(name, value);
  }
  const file = new FormData(form).get('file');
  if (file instanceof File) data.append('file', file, file.name);
  return data;
}

/**
 * Opens the import section of the page, which is not shown before.
 * @param {boolean} isFirst whether it is what should be done
 */
export function importButton(isFirst) {
  return button('Import files…', openImport, isFirst ? undefined : 'plain');
}

function openImport() {
  const section = document.getElementById('import');
  section?.setAttribute('open', '');
  section?.querySelector('input')?.focus();
}
