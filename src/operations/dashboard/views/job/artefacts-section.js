import { may } from '../../lib/api/session.js';
import { copyButton } from '../../lib/elements/copy-button.js';
import { h } from '../../lib/elements/dom.js';
import { moment, table } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
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
  return h(
    'section',
    { 'aria-labelledby': 'artefacts', 'data-key': 'artefacts' },
    h('h2', { id: 'artefacts' }, 'Artefacts'),
    artefacts.length === 0
      ? h('p', { class: 'quiet' }, 'Nothing is stored.')
      : table({
          caption: 'Artefacts',
          columns: ['What', 'Size', 'SHA-256', 'Stored', ...(may('read') ? ['Download'] : [])],
          rows: artefacts.map((artefact) => ({
            key: artefact.key,
            cells: cellsOf(artefact, job, downloads, again),
          })),
        }),
    lost.length > 0 &&
      table({
        caption: 'Lost from the store',
        columns: ['Lost from the store', 'Size', 'SHA-256', 'Was stored'],
        rows: lost.map(({ key, kind, size, sha256, storedAt }) => ({
          key,
          cells: [
            h('div', {}, kindInWords(kind), h('p', { class: 'detail mono key' }, key)),
            h('span', { class: 'number' }, bytes(size)),
            hash(sha256, key.slice(key.lastIndexOf('/') + 1)),
            moment(storedAt),
          ],
        })),
      }),
    expired.map((each) => h('p', { class: 'quiet' }, expiredInWords(each, clock))),
  );
}

/** @param {Artefact} artefact @param {Job} job @param {Downloads} downloads @param {Refresh} again */
function cellsOf(artefact, job, downloads, again) {
  const { key, kind, size, sha256, storedAt } = artefact;
  const name = key.slice(key.lastIndexOf('/') + 1);
  return [
    h(
      'div',
      {},
      kindInWords(kind),
      ' ',
      versionStatus(artefact, job),
      h('p', { class: 'detail mono key' }, key),
      chooseArtefact(job, artefact, again),
    ),
    h('span', { class: 'number' }, bytes(size)),
    sha256 ? hash(sha256, name) : h('span', { class: 'quiet' }, 'not known'),
    h('div', {}, moment(storedAt), h('p', { class: 'detail' }, storedBy(artefact, job))),
    ...(may('read') ? [download(downloads.address(key), name)] : []),
  ];
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
  return h('a', { href, download: name }, 'Download', h('span', { class: 'unseen' }, ` ${name}`));
}

/** @param {string} sha256 @param {string} name */
function hash(sha256, name) {
  return h(
    'div',
    { class: 'hash' },
    h('code', { title: sha256 }, `${sha256.slice(0, 12)}…`),
    copyButton(sha256, `SHA-256 of ${name}`),
  );
}
