import { canRefetch, currentSession, may } from '../../lib/api/session.js';
import { h } from '../../lib/elements/dom.js';
import { emptyPanel, heading, moment, unreadLines } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { isJobId } from '../../vendor/job.js';
import { unknownJobState } from '../../vendor/job-state.js';
import { importButton, importSection } from './import-section.js';
import { refetchButton } from './job-actions.js';
import { nextStepsSection } from './next-steps-section.js';

/** @import { Job } from '../../lib/api/api-answers.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

const NOTHING_TO_REFETCH =
  'Nothing can be refetched: the service does not know the job, does not answer, or is not asked because speech.apiKey or speech.regions.<region>.batchUrl is not set. This page keeps asking, and offers Refetch when the service has the job.';

/**
 * The page of a job that neither this receiver nor the service knows.
 * @param {string} jobId @param {string} message of the API @param {Refresh} again
 */
export function unknownJob(jobId, message, again) {
  const { tone, word, text, steps } = unknownJobState(jobId);
  const title = heading(`Job ${jobId}`, status(tone, word));
  if (!isJobId(jobId)) return [title, emptyPanel(message), nextStepsSection(steps.slice(0, 1))];
  return [
    title,
    emptyPanel(text),
    actionsOfUnknown(jobId, again),
    nextStepsSection(steps),
    importSection(jobId, again),
  ];
}

/** The page while nothing was found, and not everything was searched. @param {Job} job @param {Refresh} again */
export function notFoundYet({ jobId, searchedBackTo, faults }, again) {
  return [
    heading(`Job ${jobId}`, status('neutral', 'Not found yet')),
    emptyPanel(
      'Nothing was found of this job so far.',
      searchedBackTo !== null &&
        h(
          'p',
          {},
          'The ledger was searched back to ',
          moment(searchedBackTo),
          '. The search goes on while this page is open.',
        ),
      unreadLines(faults),
    ),
    actionsOfUnknown(jobId, again),
    nextStepsSection(unknownJobState(jobId).steps),
    importSection(jobId, again),
  ];
}

/**
 * Refetch only for a token of some sources: before, the service is not asked for it. For others the page has just asked.
 * @param {string} jobId @param {Refresh} again
 */
function actionsOfUnknown(jobId, again) {
  if (!may('repair')) return null;
  const isAsked = !currentSession()?.sources;
  return h(
    'div',
    { 'data-key': 'actions' },
    isAsked && h('p', { class: 'quiet' }, NOTHING_TO_REFETCH),
    h(
      'div',
      { class: 'buttons' },
      !isAsked && canRefetch() && refetchButton(jobId, 'refetch', again),
      importButton(undefined),
    ),
  );
}
