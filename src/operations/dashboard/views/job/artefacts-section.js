import { may } from '../../lib/api/session.js';
import { unseen } from '../../lib/elements/button.js';
import { copyButton } from '../../lib/elements/copy-button.js';
import { h } from '../../lib/elements/dom.js';
import { moment, section } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { figure, table } from '../../lib/elements/table.js';
import { bytes, clock } from '../../lib/text/format.js';
import { kindInWords, originInWords, provenanceOf } from '../../lib/text/ledger-terms.js';
import { expiredInWords } from '../../vendor/job-state.js';
import { disputed, isConflict, otherVersions } from '../../vendor/next-steps.js';
import { chooseArtefact } from './choose-version.js';

/** @import { Artefact, Job } from '../../lib/api/api-answers.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */
/** @import { Downloads } from './downloads.js' */

/**
 * What is stored for a job.
 * @param {Job} job @param {Downloads} downloads @param {Refresh} again
 */
export function artefactsSection(job, downloads, again) {
  const { artefacts, expired, lost } = job;
  return section(
    { id: 'artefacts', title: 'Artefacts' },
    artefacts.length === 0
      ? h('p', { class: 'quiet' }, 'Nothing is stored.')
      : table('Artefacts', artefacts, ({ key }) => key, [
          { name: 'What', cell: (artefact) => whatOf(artefact, job, again) },
          { name: 'Size', cell: ({ size }) => figure(bytes(size)) },
          { name: 'SHA-256', cell: hash },
          {
            name: 'Stored',
            cell: (artefact) =>
              h('div', {}, moment(artefact.storedAt), h('p', { class: 'detail' }, storedBy(artefact, job))),
          },
          may('read') && {
            name: 'Download',
            cell: ({ key }) => download(downloads.address(key), nameOf(key)),
          },
        ]),
    lost.length > 0 &&
      table('Lost from the store', lost, ({ key }) => key, [
        {
          name: 'Lost from the store',
          cell: ({ key, kind }) => h('div', {}, kindInWords(kind), h('p', { class: 'detail mono key' }, key)),
        },
        { name: 'Size', cell: ({ size }) => figure(bytes(size)) },
        { name: 'SHA-256', cell: hash },
        { name: 'Was stored', cell: ({ storedAt }) => moment(storedAt) },
      ]),
    expired.map((each) => h('p', { class: 'quiet' }, expiredInWords(each, clock))),
  );
}

/** @param {Artefact} artefact @param {Job} job @param {Refresh} again */
function whatOf(artefact, job, again) {
  return h(
    'div',
    {},
    kindInWords(artefact.kind),
    ' ',
    versionStatus(artefact, job),
    h('p', { class: 'detail mono key' }, artefact.key),
    chooseArtefact(job, artefact, again),
  );
}

/** @param {string} key */
function nameOf(key) {
  return key.slice(key.lastIndexOf('/') + 1);
}

/** "callback", "refetched by anna". @param {Artefact} artefact @param {Job} job */
function storedBy({ key, origin }, { timeline }) {
  if (origin === null) return 'origin not known';
  const line = timeline.findLast(
    ({ origin: by, items }) =>
      by === origin && items.some((item) => item.key === key && item.outcome !== 'identical'),
  );
  return line === undefined ? originInWords(origin) : provenanceOf(line);
}

/** Which version of a disputed artefact it is. @param {Artefact} artefact @param {Job} job */
function versionStatus(artefact, { artefacts }) {
  if (disputed(artefacts).includes(artefact)) return status('good', 'Counts now');
  if (!isConflict(artefact)) return null;
  return otherVersions(artefacts).includes(artefact)
    ? status('notice', 'Conflict')
    : status('neutral', 'Copy of what counts');
}

/** @param {string} href @param {string} name */
function download(href, name) {
  return h('a', { href, download: name }, 'Download', unseen(` ${name}`));
}

/** @param {Pick<Artefact, 'key' | 'sha256'>} artefact */
function hash({ key, sha256 }) {
  if (!sha256) return h('span', { class: 'quiet' }, 'not known');
  return h(
    'div',
    { class: 'hash' },
    h('code', { title: sha256 }, `${sha256.slice(0, 12)}…`),
    copyButton(sha256, `SHA-256 of ${nameOf(key)}`),
  );
}
