import { problemInWords } from '../../lib/api/describe-problem.js';
import { button } from '../../lib/elements/button.js';
import { h, saveFile } from '../../lib/elements/dom.js';
import { jobLink } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { bytes, clock, count, total } from '../../lib/text/format.js';
import { KEPT_REASONS } from '../../vendor/erasure-reasons.js';
import { erasureTotals } from '../../vendor/erasure-totals.js';

/** @import { Erased } from '../../lib/api/api-answers.js' */
/** @import { ErasureRunLine, ErasureSelector } from '../../vendor/erasure-totals.js' */
/** @import { ReportLine } from './erasure-calls.js' */

/** Failed jobs that are named. */
const SHOWN = 100;
const WHOLE_LEDGER = 'The command transcript-receiver erase --context reads the whole ledger.';
/** Ids that a sentence names. */
const SHOWN_IDS = 10;

/**
 * What a preview found besides the jobs that are to be erased.
 * @typedef {object} Found
 * @property {readonly ReportLine[]} before erased completely
 * @property {readonly {jobId: string, error: string}[]} leftOut named by the user, and not erased
 * @property {readonly string[]} unclear ids of jobs that may belong here
 * @property {string | null} unread what the index lacks of the ledger, so that jobs may be missing; null when it has all of it
 */

/**
 * What became of the jobs, to be downloaded.
 * @param {{lines: readonly ReportLine[], left: number, error?: unknown, run: Run | null}} outcome `left`: jobs that were not reached;
 *   `run`: null when nothing was left to erase
 * @param {Found} found @param {() => void} again previews what is left
 */
export function reportPanel({ lines, left, error = null, run }, found, again) {
  const { before, leftOut, unread } = found;
  const erased = lines.flatMap((line) => ('erased' in line ? [line] : []));
  const failed = lines.flatMap((line) => ('error' in line ? [line] : []));
  const kept = erased.flatMap((line) => line.kept ?? []);
  const isDone = left === 0 && failed.length === 0 && error === null;
  const isWhole = isDone && kept.length === 0 && unread === null;
  const jobLines = [...before, ...lines, ...leftOut];
  const report = unread === null ? jobLines : [...jobLines, { unread }];
  return h(
    'div',
    { class: `panel ${isWhole ? 'good' : ''}` },
    h(
      'p',
      { class: 'lead' },
      isWhole ? status('good', 'Erased') : status('notice', isDone ? 'Erased, but not all' : 'Not finished'),
    ),
    erased.length > 0 &&
      h(
        'p',
        {},
        `${count(erased.length, 'job')} erased now: ${bytes(total(erased.map((line) => line.erased.bytes)))}.`,
      ),
    before.length > 0 && h('p', {}, `${count(before.length, 'job')} erased before, with nothing left.`),
    kept.length > 0 && h('p', {}, keptInWords(kept)),
    failed.length > 0 && [
      h('p', {}, `${count(failed.length, 'job')} not erased:`),
      h(
        'ul',
        {},
        failed.slice(0, SHOWN).map(({ jobId, error: why }) => h('li', {}, jobLink(jobId), ` ${why}`)),
      ),
    ],
    error !== null && h('p', {}, problemInWords(error)),
    left > 0 && h('p', {}, leftInWords(left, error)),
    unreachedInWords(found),
    h(
      'div',
      { class: 'buttons' },
      !isDone && button('Preview what is left', again),
      report.length > 0 &&
        button(
          'Download report',
          () => save(run === null ? report : withRun(report, run, jobLines)),
          isDone ? undefined : 'plain',
        ),
    ),
  );
}

/** @param {Pick<Found, 'leftOut' | 'unclear' | 'unread'>} found */
export function unreachedInWords({ leftOut, unclear, unread }) {
  const errors = [...new Set(leftOut.map(({ error }) => error))];
  return [
    unread !== null && h('p', {}, `Jobs may be missing. ${unread} ${WHOLE_LEDGER}`),
    ...errors.map((why) => leftOutInWords(leftOut, why)),
    unclear.length > 0 &&
      h(
        'p',
        {},
        `${count(unclear.length, 'job')} may belong here too, because the value was left out of the context: `,
        unclear.slice(0, SHOWN_IDS).map((jobId) => [jobLink(jobId), ' ']),
        unclear.length > SHOWN_IDS && `and ${count(unclear.length - SHOWN_IDS, 'more', 'more')}`,
      ),
  ];
}

/** @param {Found['leftOut']} leftOut @param {string} why */
function leftOutInWords(leftOut, why) {
  const ids = leftOut.filter(({ error }) => error === why).map(({ jobId }) => jobId);
  const rest = ids.length - SHOWN_IDS;
  return h(
    'p',
    {},
    `Left out (${why}): `,
    h('span', { class: 'mono' }, ids.slice(0, SHOWN_IDS).join(', ')),
    rest > 0 && ` and ${count(rest, 'more', 'more')}`,
    '.',
  );
}

/** @param {readonly NonNullable<Erased['kept']>[]} kept of each job */
function keptInWords(kept) {
  const versions = count(total(kept.map((each) => each.versions)), 'version');
  const ends = kept.map(({ until }) => until);
  const last = ends.includes(null) ? null : ends.toSorted().at(-1);
  const until = last ? `until ${clock(last)}` : 'yet';
  const reasons = [...new Set(kept.flatMap((each) => each.reasons))].map((reason) => KEPT_REASONS[reason]);
  return `${versions} of ${count(kept.length, 'job')} cannot be removed ${until}, and are hidden: ${reasons.join(', ')}. Erase them again then.`;
}

/** A request that failed may have erased some of its jobs. @param {number} left @param {unknown} error */
function leftInWords(left, error) {
  const jobs = error === null ? count(left, 'job') : `At most ${count(left, 'job')}`;
  return `${jobs} left. Nothing is erased twice: preview again to go on.`;
}

/**
 * When and for what a run was begun; its instant is ISO 8601.
 * @typedef {{startedAt: string, selector: ErasureSelector}} Run
 */

/**
 * The report between its first and its last line.
 * @param {readonly object[]} report @param {Run} run @param {readonly ReportLine[]} jobLines
 */
function withRun(report, run, jobLines) {
  const ended = { ...run, finishedAt: new Date().toISOString(), totals: erasureTotals(jobLines) };
  /** @type {[ErasureRunLine, ErasureRunLine]} */
  const [first, last] = [
    { erasure: 'begun', ...run },
    { erasure: 'ended', ...ended },
  ];
  return [first, ...report, last];
}

/** @param {readonly object[]} lines */
function save(lines) {
  const name = `erased-${new Date().toISOString().slice(0, 16).replace(':', '')}Z.ndjson`;
  saveFile(name, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 'application/x-ndjson');
}
