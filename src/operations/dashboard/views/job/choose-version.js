import { post } from '../../lib/api/admin-api.js';
import { may } from '../../lib/api/session.js';
import { unseen } from '../../lib/elements/button.js';
import { h } from '../../lib/elements/dom.js';
import { confirmed } from '../../lib/elements/run-action.js';
import { bytes, clock } from '../../lib/text/format.js';
import { kindInWords } from '../../lib/text/ledger-terms.js';
import { conflictsWith, disputed, isConflict, otherVersions } from '../../vendor/next-steps.js';

/** @import { Artefact, Job } from '../../lib/api/api-answers.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * The button that chooses a conflict, or keeps the version that counts while the conflict is open; null for any other artefact.
 * @param {Job} job @param {Artefact} artefact @param {Refresh} again
 */
export function chooseArtefact(job, artefact, again) {
  const { artefacts, failure } = job;
  if (!may('repair')) return null;
  if (otherVersions(artefacts).includes(artefact)) return chooseButton('Choose…', job, artefact, again);
  const isOpen = failure !== null && disputed(artefacts).includes(artefact);
  return isOpen ? chooseButton('Keep…', job, artefact, again) : null;
}

/** @param {string} label @param {Job} job @param {Artefact} version @param {Refresh} again */
function chooseButton(label, job, version, again) {
  const name = version.key.slice(version.key.lastIndexOf('/') + 1);
  const versions = isConflict(version)
    ? [version, ...conflictsWith(version, job.artefacts, job.timeline)]
    : disputed(job.artefacts);
  const choose = confirmed(
    () => questionOf(job.jobId, versions),
    async ({ reason }) => {
      for (const { key } of versions)
        await post(`/jobs/${encodeURIComponent(job.jobId)}/choose`, { key, reason });
      return `The version of ${versionInWords(version)} counts now.`;
    },
    again,
  );
  return h(
    'button',
    { type: 'button', 'data-key': label, class: 'plain small', onclick: choose },
    label,
    unseen(` ${name}`),
  );
}

/** @param {string} jobId @param {readonly Artefact[]} versions those that will count */
function questionOf(jobId, versions) {
  const isKept = versions.some((version) => !isConflict(version));
  return {
    title: isKept
      ? `Job ${jobId}: keep the version that counts now?`
      : `Job ${jobId}: choose the other version?`,
    body: h(
      'div',
      {},
      h('p', {}, isKept ? 'This continues to count:' : 'This counts from now on:'),
      h(
        'ul',
        {},
        versions.map((version) => h('li', {}, `${kindInWords(version.kind)} of ${versionInWords(version)}`)),
      ),
      h(
        'p',
        {},
        isKept
          ? 'The conflict is settled. The ledger records who decided and why.'
          : 'What counts now is kept among the conflicts. Subscribers are notified, and the ledger records who chose and why.',
      ),
    ),
    confirm: isKept ? 'Keep' : 'Choose',
    reasonRequired: true,
  };
}

/** "14:02:11, 230 B, SHA-256 6777a3b3f795" @param {Artefact} version */
function versionInWords({ storedAt, size, sha256 }) {
  return `${clock(storedAt)}, ${bytes(size)}${sha256 === null ? '' : `, SHA-256 ${sha256.slice(0, 12)}`}`;
}
