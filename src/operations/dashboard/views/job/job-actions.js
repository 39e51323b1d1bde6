import { post, remove } from '../../lib/api/admin-api.js';
import { canReconcile, canRefetch, may } from '../../lib/api/session.js';
import { button, unseen } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import { confirmed, runAction } from '../../lib/elements/run-action.js';
import { clock, count } from '../../lib/text/format.js';
import { outcomeOf } from '../../lib/text/ledger-terms.js';
import { erasedInWords, KEPT_REASONS } from '../../vendor/erasure-words.js';
import { NOTHING_CAN_BE_REFETCHED } from '../../vendor/next-steps.js';
import { reasonInWords } from '../../vendor/reasons.js';
import { importButton } from './import-section.js';

/** @import { Erased, Job, Refetched } from '../../lib/api/api-answers.js' */
/** @import { ButtonEvent } from '../../lib/elements/element-types.js' */
/** @import { Announcement } from '../../lib/elements/notice.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */
/** @import { NextStep } from '../../vendor/next-steps.js' */
/** @import { DoStep } from './next-steps-section.js' */

/**
 * What does a step of "What to do next" on this page, as far as the token may.
 * @param {string} jobId @param {Refresh} again @returns {DoStep}
 */
export function stepActs(jobId, again) {
  return ({ action }, isFirst) => {
    switch (action) {
      case 'refetch':
        return canRefetch() && refetchButton(jobId, isFirst, again);
      case 'import':
        return may('repair') && importButton(isFirst);
      case 'acknowledge':
        return acknowledgeButton(jobId, again);
      case 'reconcile':
        return canReconcile() && link('#/reconcile', 'Reconcile now');
      default:
        return null;
    }
  };
}

/**
 * What else can be done about a job, as far as the token may: each act is offered once on the page.
 * @param {Job} job @param {readonly NextStep[]} steps those of the page @param {Refresh} again
 */
export function otherActs({ jobId, failure }, steps, again) {
  const offered = new Set(steps.map(({ action }) => action));
  const canAcknowledge = failure !== null && !offered.has('choose') && !offered.has('acknowledge');
  return h(
    'div',
    { class: 'buttons', 'data-key': 'actions' },
    !offered.has('refetch') && canRefetch() && refetchButton(jobId, false, again),
    !offered.has('import') && may('repair') && importButton(false),
    canAcknowledge && acknowledgeButton(jobId, again),
    eraseButton(jobId, again),
  );
}

/**
 * What is left to do about an erased job: to erase what could not be removed yet, and to acknowledge a failure.
 * @param {Job} job @param {Refresh} again
 */
export function erasedJobActions({ jobId, erasure, failure }, again) {
  return h(
    'div',
    { class: 'buttons', 'data-key': 'actions' },
    failure !== null && acknowledgeButton(jobId, again),
    !erasure?.complete && eraseButton(jobId, again),
  );
}

/** @param {string} jobId @param {boolean} isFirst whether it is what should be done @param {Refresh} again */
export function refetchButton(jobId, isFirst, again) {
  return button('Refetch from the service', refetchOnClick(jobId, again), isFirst ? undefined : 'plain');
}

/** Note on the settings that Refetch lacks; null where the page offers it, and for tokens without the right. */
export function noRefetch() {
  if (!may('repair') || canRefetch()) return null;
  return h('p', { class: 'quiet', 'data-key': 'no-refetch' }, NOTHING_CAN_BE_REFETCHED);
}

/** @param {string} jobId @param {Refresh} again */
function eraseButton(jobId, again) {
  const erase = confirmed(
    () => ({
      title: `Erase job ${jobId}?`,
      body: 'Its artefacts, conflicts and quarantined bodies are permanently deleted from the store, old versions included. The ledger records when the job was erased and by whom. The job stays erased: later callbacks, recovery and imports store nothing of it.',
      confirm: 'Erase permanently',
      typed: jobId,
      danger: true,
    }),
    async (agreed) => wasErased(jobId, await remove(`/jobs/${encodeURIComponent(jobId)}`, agreed)),
    again,
  );
  return may('erase') && button('Erase…', erase, 'plain danger');
}

/** @param {string} jobId @param {Refresh} again */
export function refetchOnClick(jobId, again) {
  return (/** @type {ButtonEvent} */ { currentTarget }) => refetchJob(currentTarget, jobId, again);
}

/**
 * Fetches the missing results of a job; idempotent.
 * @param {HTMLButtonElement | null} button @param {string} jobId @param {Refresh} again
 */
async function refetchJob(button, jobId, again) {
  await runAction(button, async () =>
    refetched(jobId, await post(`/jobs/${encodeURIComponent(jobId)}/refetch`, {})),
  );
  await again();
}

/** @param {string} jobId @param {Refetched} result @returns {Announcement} */
function refetched(jobId, result) {
  const { outcome } = result;
  const { tone, word } = outcomeOf(outcome);
  // The reason of a job that was recovered is why its callback did not arrive.
  const reason = tone === 'good' && outcome !== 'matched' ? null : reasonInWords(result.reason);
  const text = outcome === 'matched' ? 'nothing is missing' : word.toLowerCase();
  return { tone, text: `Job ${jobId}: ${text}${reason ? `: ${reason}` : ''}.` };
}

/**
 * Acknowledges a job as it is, so that it is no longer listed as failing.
 * @param {string} jobId @param {Refresh} again @param {string} [look]
 */
export function acknowledgeButton(jobId, again, look = 'plain') {
  const acknowledge = confirmed(
    () => ({
      title: `Acknowledge job ${jobId}?`,
      body: 'The job is no longer listed as failing unless it fails again. Nothing is deleted or fetched. The ledger records who acknowledged it and why.',
      confirm: 'Acknowledge',
      reasonRequired: true,
    }),
    async (agreed) => {
      await post(`/jobs/${encodeURIComponent(jobId)}/acknowledge`, agreed);
      return `Job ${jobId} was acknowledged.`;
    },
    again,
  );
  return may('repair') && button(['Acknowledge…', unseen(` job ${jobId}`)], acknowledge, look);
}

/** @param {string} jobId @param {Erased} result @returns {Announcement} */
function wasErased(jobId, { erased, kept: rest }) {
  const text = `Job ${jobId} was erased: ${erasedInWords(erased)}.`;
  if (rest === null) return { tone: 'good', text };
  const until = rest.until === null ? 'yet' : `before ${clock(rest.until)}`;
  const reasons = rest.reasons.map((reason) => KEPT_REASONS[reason]).join(', ');
  const left = `${count(rest.versions, 'version')} cannot be removed ${until}: ${reasons}.`;
  return { tone: 'notice', text: `${text} ${left}` };
}
