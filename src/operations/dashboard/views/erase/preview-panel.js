import { button } from '../../lib/elements/button.js';
import { confirmDialog } from '../../lib/elements/confirm-dialog.js';
import { h } from '../../lib/elements/dom.js';
import { emptyPanel, jobList } from '../../lib/elements/panels.js';
import { bytes, clock, count, total } from '../../lib/text/format.js';
import { LEFT_OUT_REASONS } from '../../vendor/erasure-reasons.js';
import { reportPanel, unreachedInWords } from './report-panel.js';
import { runErasure } from './run-erasure.js';

/** @import { JobToErase, PreviewedJobs } from './erasure-calls.js' */
/** @import { Found } from './report-panel.js' */
/** @import { Place } from './run-erasure.js' */

/** Jobs that a preview lists. */
const SHOWN_JOBS = 100;

/**
 * @typedef {object} Options
 * @property {string} context as it was typed; empty without one
 * @property {number} named ids that were named
 * @property {boolean} unknown whether to erase ids about which nothing is known
 * @property {string | null} typed what the user types to confirm; null for the number of jobs
 */

/**
 * What would be erased, and the button that does it.
 * @param {PreviewedJobs} found @param {Place & Options} options
 */
export function previewPanel({ jobs, unclear, unread }, options) {
  const of = (/** @type {JobToErase['state']} */ state) => jobs.filter((job) => job.state === state);
  const chosen = options.unknown ? [...of('known'), ...of('unknown')] : of('known');
  const before = of('erased').flatMap(({ jobId, erasure }) =>
    erasure === null ? [] : [{ jobId, complete: /** @type {const} */ (true), ...erasure }],
  );
  const leftOutAs = (/** @type {keyof typeof LEFT_OUT_REASONS} */ state) =>
    of(state).map(({ jobId }) => ({ jobId, error: LEFT_OUT_REASONS[state] }));
  const leftOut = [...(options.unknown ? [] : leftOutAs('unknown')), ...leftOutAs('shared')];
  const found = { before, leftOut, unclear, unread };
  const unreached = unreachedInWords(found);
  if (jobs.length === 0) return emptyPanel('The ledger has no job with this context.', ...unreached);
  if (chosen.length === 0 && before.length === 0)
    return emptyPanel('There is nothing to erase.', ...unreached);
  if (chosen.length === 0) return reportPanel({ lines: [], left: 0, run: null }, found, options.again);
  const number = count(chosen.length, 'job');
  const onclick = () => eraseIfConfirmed(chosen, found, options);
  return h(
    'div',
    { class: 'panel' },
    h('p', { class: 'lead' }, `Would erase ${number}: ${sumOf(chosen)}, with their old versions.`),
    before.length > 0 && h('p', {}, `Erased before, with nothing left: ${count(before.length, 'job')}.`),
    unreached,
    protectionOf(chosen),
    jobList(
      chosen.length > SHOWN_JOBS ? `The first ${count(SHOWN_JOBS)}` : 'All of them',
      chosen.slice(0, SHOWN_JOBS).map(({ jobId }) => jobId),
    ),
    h('div', { class: 'buttons' }, button(`Erase ${number}…`, onclick, 'danger')),
  );
}

/** @param {readonly JobToErase[]} chosen @param {Found} found @param {Place & Options} options */
async function eraseIfConfirmed(chosen, found, { context, named, unknown, typed, ...place }) {
  const agreed = await confirmDialog({
    title: `Erase ${count(chosen.length, 'job')}?`,
    body: `${sumOf(chosen)} are permanently deleted from the store, with their old versions. The ledger records who erased them and why.`,
    confirm: 'Erase permanently',
    typed: typed ?? String(chosen.length),
    danger: true,
    reasonRequired: true,
  });
  if (agreed === null) return;
  const ids = chosen.map(({ jobId }) => jobId);
  const selector = { jobs: named, context: contextOf(context), unknown };
  await runErasure({ ids, unknown, reason: agreed.reason }, selector, found, place);
}

/** @param {string} text `name=value`, or empty @returns {Record<string, string>} */
function contextOf(text) {
  const at = text.indexOf('=');
  return at < 0 ? {} : { [text.slice(0, at)]: text.slice(at + 1) };
}

/** @param {readonly JobToErase[]} jobs */
function sumOf(jobs) {
  const objects = count(total(jobs.map((job) => job.objects)), 'object');
  const quarantined = total(jobs.map((job) => job.quarantined));
  const bodies =
    quarantined > 0 ? ` and ${count(quarantined, 'quarantined body', 'quarantined bodies')}` : '';
  return `${objects}${bodies} (${bytes(total(jobs.map((job) => job.bytes)))})`;
}

/** @param {readonly JobToErase[]} jobs */
function protectionOf(jobs) {
  const ends = jobs.flatMap((job) => (job.protected === null ? [] : [job.protected.until]));
  if (ends.length === 0) return null;
  const last = ends.includes(null) ? null : (ends.toSorted().at(-1) ?? null);
  const until = last === null ? 'The store protects' : `Until ${clock(last)} the store protects`;
  return h(
    'p',
    {},
    `${until} objects of ${count(ends.length, 'job')}: erasing hides them now, and removes them when it is repeated then.`,
  );
}
