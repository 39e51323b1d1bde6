import { switchButtons, unseen } from '../../lib/elements/button.js';
import { h } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';
import { table } from '../../lib/elements/table.js';
import { count, listed, position } from '../../lib/text/format.js';
import { kindInWords } from '../../lib/text/ledger-terms.js';
import { conflictsWith, countingVersion, otherVersions } from '../../vendor/next-steps.js';
import { chooseButtons, versionInWords } from '../job/choose-version.js';
import { compareTranscripts } from './compare-transcripts.js';
import { TRANSCRIPT_KINDS, versionOf } from './transcript-loader.js';

/** @import { Artefact, Job } from '../../lib/api/api-answers.js' */
/** @import { Comparison, TextRun } from './compare-transcripts.js' */
/** @import { ContentOf } from './transcript-loader.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/** Maximum number of differences shown. */
const MAX_PLACES = 200;

/** @typedef {{kept: Artefact, other: Artefact}} Pair */

/**
 * The kept version of a transcript and one in conflict with it, side by side. Null if there is no such pair.
 * @param {ContentOf} contentOf @param {Refresh} again
 */
export function createVersionComparison(contentOf, again) {
  /** @type {Map<string, Comparison>} */
  const compared = new Map();
  /** @type {string | null} */
  let chosen = null;

  /** @param {Pair} pair */
  function comparisonOf({ kept, other }) {
    const one = contentOf(kept);
    const two = contentOf(other);
    if (one.read === undefined) return one;
    if (two.read === undefined) return two;
    const name = `${versionOf(kept)} ${versionOf(other)}`;
    const comparison = compared.get(name) ?? compareTranscripts(one.read, two.read);
    compared.set(name, comparison);
    return comparison;
  }

  /** @param {string} key */
  function choose(key) {
    chosen = key;
    void again();
  }

  /** @param {Job} job */
  return (job) => {
    const pairs = pairsOf(job.artefacts);
    const shown = pairs.find(({ other }) => other.key === chosen) ?? pairs[0];
    if (shown === undefined) return null;
    return section(
      {
        id: 'compare',
        title: 'Comparison of the two versions',
        beside: pairs.length > 1 && whichPair(pairs, shown, choose),
      },
      h(
        'p',
        { class: 'quiet', 'data-key': 'versions' },
        `Counts now: ${versionInWords(shown.kept)}. Other version: ${versionInWords(shown.other)}.`,
      ),
      comparisonTable(comparisonOf(shown), shown),
      arrivedWith(job, shown),
      chooseButtons(job, shown, again),
    );
  };
}

/** What else is chosen with the other version. @param {Job} job @param {Pair} pair */
function arrivedWith({ artefacts, timeline }, { other }) {
  const kinds = conflictsWith(other, artefacts, timeline).map(({ kind }) => kindInWords(kind));
  if (kinds.length === 0) return null;
  return h(
    'p',
    { 'data-key': 'with' },
    `Arrived with the other version, and chosen with it: ${listed(kinds)}.`,
  );
}

/** @param {readonly Artefact[]} artefacts @returns {Pair[]} */
function pairsOf(artefacts) {
  return otherVersions(artefacts)
    .filter(({ kind }) => TRANSCRIPT_KINDS.includes(kind))
    .flatMap((other) => {
      const kept = countingVersion(other, artefacts);
      return kept === undefined ? [] : [{ kept, other }];
    });
}

/** @param {readonly Pair[]} pairs @param {Pair} shown @param {(key: string) => void} choose */
function whichPair(pairs, shown, choose) {
  const options = pairs.map((pair, index) => ({
    key: pair.other.key,
    text: `${index + 1}: ${kindInWords(pair.other.kind)}`,
    isPressed: pair === shown,
  }));
  return switchButtons('Which version to compare', options, choose);
}

/** @param {Comparison} comparison @param {Pair} pair */
function comparisonTable(comparison, { other }) {
  if (comparison.note !== undefined) return h('p', { 'data-key': 'note' }, comparison.note);
  const { places } = comparison;
  return h(
    'div',
    { class: 'compare', 'data-key': other.key },
    h('p', { class: 'quiet' }, `The versions differ in ${count(places.length, 'passage')}.`),
    table('Differences', places.slice(0, MAX_PLACES), (_place, index) => `${other.key} ${index}`, [
      { name: 'At', cell: ({ start }) => (start === null ? '–' : position(start)) },
      { name: 'Counts now', cell: ({ first }) => side(first, 'del', 'Only in the version that counts: ') },
      { name: 'Other version', cell: ({ second }) => side(second, 'ins', 'Only in the other version: ') },
    ]),
    places.length > MAX_PLACES &&
      h(
        'p',
        { class: 'quiet' },
        `The first ${count(MAX_PLACES)} are shown. Download both versions to see the others.`,
      ),
  );
}

/**
 * Changed words in `ins` and `del`, with hidden labels because many screen readers ignore these elements.
 * @param {readonly TextRun[]} runs @param {'del' | 'ins'} tag @param {string} label
 */
function side(runs, tag, label) {
  if (runs.length === 0) return h('span', { class: 'quiet' }, 'nothing');
  return h(
    'div',
    { class: 'version', dir: 'auto' },
    runs.map(({ changed, text: whole }, index) => {
      const text = index === 0 ? whole.trimStart() : whole;
      if (!changed) return text;
      const space = /^\s*/.exec(text)?.[0] ?? '';
      return [space, h(tag, {}, unseen(label), text.slice(space.length), unseen('.'))];
    }),
  );
}
