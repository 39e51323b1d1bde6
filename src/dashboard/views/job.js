import { ApiError, get } from '../lib/api.js';
import { copyButton } from '../lib/copy-button.js';
import { h } from '../lib/dom.js';
import { createDownloads } from '../lib/downloads.js';
import { jobState, needsDecision } from '../lib/job-state.js';
import { emptyPanel, heading } from '../lib/panels.js';
import { status } from '../lib/status.js';
import { createTranscriptLoader } from '../lib/transcript-loader.js';
import { artefactsSection } from './artefacts.js';
import { importSection, jobActions } from './job-actions.js';
import { serviceSection } from './service-record.js';
import { settleButton } from './settle-job.js';
import { timelineSection } from './timeline.js';
import { createTranscriptReader } from './transcript-reader.js';
import { createVersionComparison } from './version-comparison.js';

/** @import { Downloads } from '../lib/downloads.js' */
/** @import { Job } from '../api-answers.js' */
/** @import { Refresh, Screen } from '../lib/screen.js' */

/**
 * @typedef {object} JobParts
 * @property {string | null} chosen id of the delivery to point out
 * @property {ReturnType<typeof createTranscriptReader>} reader
 * @property {ReturnType<typeof createVersionComparison>} comparison
 * @property {Downloads} downloads
 * @property {Refresh} again
 */

/**
 * One job's page. Each update also asks the service, so it updates less often than lists.
 * @param {Screen} screen
 */
export function jobView(screen) {
  const jobId = screen.route.id;
  const downloads = createDownloads(jobId);
  const chosen = screen.route.query.get('delivery');
  let pointedOut = chosen === null;
  /** @param {Job} story */
  const draw = (story) => {
    screen.render(...pageOf(story, { chosen, reader, comparison, downloads, again }));
    if (!pointedOut) screen.root.querySelector('.chosen')?.scrollIntoView({ block: 'center' });
    pointedOut = true;
  };
  const contentOf = createTranscriptLoader(jobId, screen.signal, () => again());
  const reader = createTranscriptReader(contentOf, downloads, () => again());
  const comparison = createVersionComparison(contentOf, () => again());
  screen.start(`Job ${jobId}`);
  const again = screen.keepFresh(8000, async (signal) => {
    const story = await get(`/jobs/${encodeURIComponent(jobId)}`, { signal }).catch((error) => {
      if (!(error instanceof ApiError && error.code === 'not-found')) throw error;
      return null;
    });
    if (story === null) screen.render(...unknownJob(jobId, () => again()));
    else {
      await downloads.renew();
      draw(story);
    }
  });
}

/** @param {Job} story @param {JobParts} parts */
function pageOf(story, { chosen, reader, comparison, downloads, again }) {
  const { jobId, artefacts, timeline, service } = story;
  const { tone, word, text, repair } = jobState(story);
  return [
    heading(`Job ${jobId}`, copyButton(jobId, `job id ${jobId}`), status(tone, word)),
    h('p', { class: 'prose', 'data-key': 'state' }, text),
    jobActions(jobId, repair, again, needsDecision(story) && settleButton(jobId, again)),
    comparison(artefacts),
    h(
      'div',
      { class: 'story', 'data-key': 'story' },
      h(
        'div',
        { class: 'column', 'data-key': 'left' },
        timelineSection(timeline, chosen),
        artefactsSection(artefacts, downloads),
      ),
      h(
        'div',
        { class: 'column', 'data-key': 'right' },
        reader.section(artefacts, service),
        serviceSection(service),
      ),
    ),
    importSection(jobId, again),
  ];
}

/** @param {string} jobId @param {Refresh} again */
function unknownJob(jobId, again) {
  return [
    heading(`Job ${jobId}`, status('neutral', 'Not known')),
    emptyPanel(
      'Nothing is known of this job here.',
      h(
        'p',
        {},
        'If the service has it, refetch it. If you have its files, import them below. It may also have been erased, or belong to another receiver.',
      ),
    ),
    jobActions(jobId, 'refetch', again),
    importSection(jobId, again),
  ];
}
