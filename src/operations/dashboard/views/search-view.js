import { ApiError, get, problemWith } from '../lib/api/admin-api.js';
import { h } from '../lib/elements/dom.js';
import {
  emptyPanel,
  heading,
  indexNote,
  jobLink,
  loadingPanel,
  moment,
  outcomeBadge,
  problemPanel,
} from '../lib/elements/panels.js';
import { table } from '../lib/elements/table.js';
import { toJob } from '../lib/screen/route.js';
import { count } from '../lib/text/format.js';
import { isJobId } from '../vendor/job.js';
import { nextStepsSection } from './job/next-steps-section.js';
import { unknownState } from './job/unknown-job.js';

/** @import { JobMatches } from '../lib/api/api-answers.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/**
 * Finds jobs by an id, a value of their context, or a part of either. One that is certain is opened at once.
 * @param {Screen} screen
 */
export function searchView(screen) {
  const text = (screen.route.query.get('text') ?? '').trim();
  screen.start(`Search: ${text}`);
  screen.render(heading(`Search: ${text}`), loadingPanel());
  screen.keepFresh(30_000, async (signal) => {
    const found = await get('/jobs', { query: { text }, signal }).catch(problemWith('request-invalid'));
    if (found instanceof ApiError) return screen.render(heading(`Search: ${text}`), problemPanel(found));
    const [only, another] = found.jobs;
    if (only !== undefined && (only.jobId === text || another === undefined))
      return location.replace(toJob(only.jobId));
    // The page of the job asks the service, and says what to do.
    if (only === undefined && isJobId(text)) return location.replace(toJob(text));
    screen.render(heading(`Search: ${text}`), list(text, found));
  });
}

/** @param {string} text @param {JobMatches} found */
function list(text, { jobs, more, index }) {
  return h(
    'section',
    { 'aria-label': 'Found jobs', class: 'compact', 'data-key': 'found' },
    jobs.length === 0
      ? [
          emptyPanel('No job was found by this id or context, or by a part of either.'),
          nextStepsSection(unknownState(text).steps),
        ]
      : table('Jobs, newest first', jobs, ({ jobId }) => jobId, [
          { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
          { name: 'Found by', cell: ({ by, context }) => (by === 'id' ? 'id' : contextInWords(context)) },
          { name: 'Last outcome', cell: ({ outcome }) => outcomeBadge(outcome) },
          { name: 'When', cell: ({ receivedAt }) => moment(receivedAt) },
        ]),
    more && h('p', { class: 'quiet' }, `${count(jobs.length)} are shown; more may match.`),
    indexNote(index),
  );
}

/** @param {JobMatches['jobs'][number]['context']} context */
function contextInWords(context) {
  return Object.entries(context ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
