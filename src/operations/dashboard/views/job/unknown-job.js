import { canRefetch, currentSession } from '../../lib/api/session.js';
import { h } from '../../lib/elements/dom.js';
import { emptyPanel, heading, indexNote } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { isJobId } from '../../vendor/job.js';
import { NO_SERVICE_RECORD, unknownJobState } from '../../vendor/job-state.js';
import { importSection } from './import-section.js';
import { refetchButton, stepActs } from './job-actions.js';
import { nextStepsSection } from './next-steps-section.js';

/** @import { Job } from '../../lib/api/api-answers.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * The page of a job that neither this receiver nor the service knows.
 * @param {string} jobId @param {string} message of the API @param {Refresh} again
 */
export function unknownJob(jobId, message, again) {
  const { tone, word, steps } = unknownState(jobId);
  const title = heading(`Job ${jobId}`, status(tone, word));
  if (!isJobId(jobId)) return [title, emptyPanel(message), nextStepsSection(steps)];
  return [
    title,
    emptyPanel(
      message,
      currentSession()?.sources &&
        h('p', {}, 'A job of a source that this token may not see is unknown to it, too.'),
    ),
    refetchOfUnknown(jobId, again),
    nextStepsSection(steps, stepActs(jobId, again)),
    importSection(jobId, again),
  ];
}

/** The page while nothing was found, and not everything was searched. @param {Job} job @param {Refresh} again */
export function notFoundYet({ jobId, index, serviceAnswer }, again) {
  return [
    heading(`Job ${jobId}`, status('neutral', 'Not found yet')),
    emptyPanel(
      'Nothing was found of this job so far.',
      indexNote(index),
      serviceAnswer !== 'found' && h('p', {}, NO_SERVICE_RECORD[serviceAnswer]),
    ),
    refetchOfUnknown(jobId, again),
    nextStepsSection(unknownState(jobId).steps, stepActs(jobId, again)),
    importSection(jobId, again),
  ];
}

/** State of an unknown job, without what the service answered, which the API says. @param {string} jobId */
export function unknownState(jobId) {
  return unknownJobState(jobId, currentSession()?.canAskService ? 'unknown' : 'not-configured');
}

/**
 * Refetch only for a token of some sources: before, the service is not asked for it. For others the page has just asked.
 * @param {string} jobId @param {Refresh} again
 */
function refetchOfUnknown(jobId, again) {
  const isAsked = !currentSession()?.sources;
  if (isAsked || !canRefetch()) return null;
  return h('div', { class: 'buttons', 'data-key': 'actions' }, refetchButton(jobId, true, again));
}
