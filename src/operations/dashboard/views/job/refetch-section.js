import { canRefetch } from '../../lib/api/session.js';
import { submitButton } from '../../lib/elements/button.js';
import { h, kept } from '../../lib/elements/dom.js';
import { choices, field, textOf } from '../../lib/elements/field.js';
import { refetchJob } from './job-actions.js';

/** @import { Job } from '../../lib/api/api-answers.js' */
/** @import { FormEvent } from '../../lib/elements/element-types.js' */
/** @import { Option } from '../../lib/elements/field.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * Refetches a job into a source that its own callback URLs do not name. Null where there is only one, or where something of the job
 * came to one.
 * @param {Job} job @param {readonly string[]} sources @param {Refresh} again
 */
export function refetchSection({ jobId, timeline }, sources, again) {
  const isKnown = timeline.some(({ source }) => source !== null);
  if (!canRefetch() || sources.length < 2 || isKnown) return null;
  const onsubmit = async (/** @type {FormEvent} */ event) => {
    event.preventDefault();
    const form = event.currentTarget;
    await refetchJob(form.querySelector('button'), jobId, again, textOf(form, 'source'));
  };
  const options = sources.map((name) => /** @type {Option} */ ([name, name]));
  return h(
    'details',
    { class: 'panel', 'data-key': 'refetch' },
    h('summary', {}, 'Refetch into a source'),
    h(
      'p',
      { class: 'quiet' },
      'For a job whose callback URLs do not lead here: they do not name its source.',
    ),
    kept('form', { class: 'filters', onsubmit }, jobId, () => [
      field('refetch-source', 'Source', choices('source', options)),
      submitButton('Refetch'),
    ]),
  );
}
