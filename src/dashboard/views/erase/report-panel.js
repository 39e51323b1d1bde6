import { describeProblem } from '../../lib/api/describe-problem.js';
import { h, saveFile } from '../../lib/elements/dom.js';
import { jobLink } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { bytes, clock, count, total } from '../../lib/text/format.js';

/** @import { Child } from '../../lib/elements/element-types.js' */
/** @import { ReportLine } from './erasure-calls.js' */

/** Failed jobs that are named. */
const SHOWN = 100;

/**
 * What became of the jobs, to be downloaded.
 * @param {{lines: readonly ReportLine[], left: number, error?: unknown}} outcome `left`: jobs that were not reached
 * @param {() => void} again previews what is left @param {Child} [notes]
 */
export function reportPanel({ lines, left, error = null }, again, notes = null) {
  const erased = lines.flatMap((line) => ('erased' in line ? [line] : []));
  const before = lines.filter((line) => 'erasedAt' in line).length;
  const failed = lines.flatMap((line) => ('error' in line ? [line] : []));
  const kept = erased.flatMap((line) => line.kept ?? []);
  const isDone = left === 0 && failed.length === 0 && error === null;
  return h(
    'div',
    { class: `panel ${isDone && kept.length === 0 ? 'good' : ''}` },
    h('p', { class: 'lead' }, isDone ? status('good', 'Erased') : status('notice', 'Not finished')),
    erased.length > 0 &&
      h(
        'p',
        {},
        `${count(erased.length, 'job')} erased now: ${bytes(total(erased.map((line) => line.erased.bytes)))}.`,
      ),
    before > 0 && h('p', {}, `${count(before, 'job')} erased before, with nothing left.`),
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
    left > 0 && h('p', {}, `${count(left, 'job')} left. Nothing is erased twice: preview again to go on.`),
    notes,
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'button', onclick: () => save(lines) }, 'Download report'),
      !isDone && h('button', { type: 'button', class: 'plain', onclick: again }, 'Preview what is left'),
    ),
  );
}

/** @param {readonly {versions: number, until: string | null}[]} kept of each job */
function keptInWords(kept) {
  const versions = count(total(kept.map((each) => each.versions)), 'version');
  const ends = kept.map(({ until }) => until);
  const last = ends.includes(null) ? null : ends.toSorted().at(-1);
  const until = last ? `until ${clock(last)}` : 'yet';
  return `${versions} of ${count(kept.length, 'job')} cannot be removed ${until}, and are hidden. Erase them again then.`;
}

/** @param {unknown} error */
function problemInWords(error) {
  const { title, message, advice } = describeProblem(error);
  return `${title}: ${message} ${advice}`;
}

/** @param {readonly ReportLine[]} lines */
function save(lines) {
  const name = `erased-${new Date().toISOString().slice(0, 16).replace(':', '')}Z.ndjson`;
  saveFile(name, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), 'application/x-ndjson');
}
