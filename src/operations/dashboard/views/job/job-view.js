import { ApiError, get, problemWith } from '../../lib/api/admin-api.js';
import { may } from '../../lib/api/session.js';
import { contextValues, hasContext, omittedContext } from '../../lib/elements/context-values.js';
import { copyButton } from '../../lib/elements/copy-button.js';
import { h } from '../../lib/elements/dom.js';
import { heading } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { clock } from '../../lib/text/format.js';
import { jobState } from '../../vendor/job-state.js';
import { createTranscriptLoader } from '../transcript/transcript-loader.js';
import { createTranscriptSection } from '../transcript/transcript-section.js';
import { artefactsSection } from './artefacts-section.js';
import { createDownloads } from './downloads.js';
import { eventsSection } from './events-section.js';
import { importSection } from './import-section.js';
import { erasedJobActions, otherActs, stepActs } from './job-actions.js';
import { jobBodies } from './job-bodies.js';
import { nextStepsSection } from './next-steps-section.js';
import { serviceSection } from './service-section.js';
import { timelineSection } from './timeline-section.js';
import { notFoundYet, unknownJob } from './unknown-job.js';

/** @import { Job, QuarantinedBody } from '../../lib/api/api-answers.js' */
/** @import { Refresh, Screen } from '../../lib/screen/screen.js' */
/** @import { Downloads } from './downloads.js' */

/**
 * @typedef {object} JobParts
 * @property {string | null} chosen id of the delivery to highlight
 * @property {ReturnType<typeof createTranscriptSection>} transcript
 * @property {Downloads} downloads
 * @property {Refresh} again
 */

/**
 * The page of a job. Each update also queries the speech service, so it updates less often than lists.
 * @param {Screen} screen
 */
export function jobView(screen) {
  const jobId = screen.route.id;
  const downloads = createDownloads(jobId);
  const chosen = screen.route.query.get('delivery');
  let pointedOut = chosen === null;
  /** @param {Job} job @param {readonly QuarantinedBody[]} bodies */
  const draw = (job, bodies) => {
    screen.render(...pageOf(job, bodies, { chosen, transcript, downloads, again }));
    if (!pointedOut) screen.root.querySelector('.chosen')?.scrollIntoView({ block: 'center' });
    pointedOut = true;
  };
  const contentOf = createTranscriptLoader(jobId, screen.signal, () => again());
  const transcript = createTranscriptSection(contentOf, () => again());
  screen.start(`Job ${jobId}`);
  const again = screen.keepFresh(8000, async (signal) => {
    const job = await get(`/jobs/${encodeURIComponent(jobId)}`, { signal }).catch(problemWith('not-found'));
    if (job instanceof ApiError) screen.render(...unknownJob(jobId, job.message, () => again()));
    else if (isNothingFound(job)) screen.render(...notFoundYet(job, () => again()));
    else {
      // A ticket is an access to content in the ledger.
      if (may('read') && job.artefacts.length > 0) await downloads.renew();
      draw(job, await bodiesOf(job, signal));
    }
  });
}

/**
 * The bodies that the job has in quarantine, newest first.
 * @param {Job} job @param {AbortSignal} signal @returns {Promise<readonly QuarantinedBody[]>}
 */
async function bodiesOf({ jobId, timeline }, signal) {
  if (!timeline.some(({ outcome }) => outcome === 'quarantined')) return [];
  return (await get('/quarantine', { query: { job: jobId, state: 'all', limit: 100 }, signal })).quarantine;
}

/** Nothing was found so far, and not everything was searched. @param {Job} job */
function isNothingFound({ artefacts, timeline, erasure, service }) {
  return artefacts.length === 0 && timeline.length === 0 && erasure === null && service === null;
}

/** @param {Job} job @param {readonly QuarantinedBody[]} bodies @param {JobParts} parts */
function pageOf(job, bodies, { chosen, transcript, downloads, again }) {
  const { jobId, artefacts, timeline } = job;
  const { tone, word, text, steps } = jobState(job, bodies, clock);
  const acts = job.erasure === null ? otherActs(job, steps, again) : erasedJobActions(job, again);
  const content = may('read') ? transcript(artefacts) : null;
  const history = [timelineSection(job, chosen), eventsSection(job), jobBodies(bodies, again)];
  return [
    heading(`Job ${jobId}`, copyButton(jobId, `job id ${jobId}`), status(tone, word)),
    h('p', { class: 'prose', 'data-key': 'state' }, text),
    hasContext(timeline) && h('p', { 'data-key': 'context' }, contextValues(timeline)),
    omittedContext(timeline),
    // An erased job takes nothing any more: its acts are its steps.
    nextStepsSection(steps, job.erasure === null ? stepActs(jobId, again) : undefined),
    // What was said comes first, on a phone as well; without it the history does.
    h(
      'div',
      { class: 'columns', 'data-key': 'columns' },
      h('div', { class: 'column', 'data-key': 'left' }, content ?? [withoutContent(artefacts), history]),
      h('div', { class: 'column', 'data-key': 'right' }, acts, content && history, serviceSection(job)),
    ),
    artefactsSection(job, downloads, again),
    job.erasure === null && importSection(jobId, again),
  ];
}

/** @param {Job['artefacts']} artefacts */
function withoutContent(artefacts) {
  if (may('read') || artefacts.length === 0) return null;
  return h(
    'p',
    { class: 'quiet', 'data-key': 'transcript' },
    'This token may not read content: transcripts and downloads are not shown.',
  );
}
