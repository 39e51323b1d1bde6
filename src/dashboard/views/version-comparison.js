import { compareTranscripts } from '../lib/compare-transcripts.js';
import { h } from '../lib/dom.js';
import { count, position } from '../lib/format.js';
import { isConflict } from '../lib/job-state.js';
import { table } from '../lib/panels.js';
import { TRANSCRIPT_KINDS } from '../lib/transcript-loader.js';
import { kindInWords } from '../lib/words.js';

/** Places shown; who needs more compares the files. */
const MAX_PLACES = 200;

/** The kept version of a transcript and one in conflict with it, side by side. Null where there are no such two. */
export function createVersionComparison(contentOf, redraw) {
  const compared = new Map();
  let chosen = null;

  function comparisonOf({ kept, other }) {
    const one = contentOf(kept);
    const two = contentOf(other);
    if (one.note || two.note) return { note: one.note ?? two.note };
    const name = `${kept.key} ${other.key}`;
    if (!compared.has(name)) compared.set(name, compareTranscripts(one.read, two.read));
    return compared.get(name);
  }

  function choose(key) {
    chosen = key;
    redraw();
  }

  return (artefacts) => {
    const pairs = pairsOf(artefacts);
    if (pairs.length === 0) return null;
    const shown = pairs.find(({ other }) => other.key === chosen) ?? pairs[0];
    return h(
      'section',
      { 'aria-labelledby': 'compare', 'data-key': 'compare' },
      h(
        'div',
        { class: 'heading' },
        h('h2', { id: 'compare' }, 'The two versions compared'),
        pairs.length > 1 && whichPair(pairs, shown, choose),
      ),
      comparisonTable(comparisonOf(shown), shown),
      h(
        'p',
        { class: 'quiet' },
        'The first version stays in place. If it is right, acknowledge the job. If the other one is right, download every file that is right, erase the job and import them.',
      ),
    );
  };
}

function pairsOf(artefacts) {
  return artefacts
    .filter((artefact) => isConflict(artefact) && TRANSCRIPT_KINDS.includes(artefact.kind))
    .flatMap((other) => {
      const kept = artefacts.find((artefact) => artefact.kind === other.kind && !isConflict(artefact));
      return kept === undefined ? [] : [{ kept, other }];
    });
}

function whichPair(pairs, shown, choose) {
  return h(
    'div',
    { class: 'switch', role: 'group', 'aria-label': 'Which version to compare' },
    pairs.map((pair, index) =>
      h(
        'button',
        {
          type: 'button',
          'data-key': pair.other.key,
          'aria-pressed': String(pair === shown),
          onclick: () => choose(pair.other.key),
        },
        `${index + 1}: ${kindInWords(pair.other.kind)}`,
      ),
    ),
  );
}

function comparisonTable({ note, places, equalAfter }, { other }) {
  if (note) return h('p', { 'data-key': 'note' }, note);
  const rows = places.slice(0, MAX_PLACES).map((place, index) => ({
    key: `${other.key} ${index}`,
    cells: [
      whereOf(place),
      side(place.first, 'del', 'Only in the first version: '),
      side(place.second, 'ins', 'Only in the other version: '),
    ],
  }));
  const rest =
    places.length > MAX_PLACES
      ? `The first ${count(MAX_PLACES)} of ${count(places.length, 'place')} are shown. Download both versions to see the others.`
      : equalAfter > 0 && `${count(equalAfter, 'equal word')} after the last difference.`;
  return h(
    'div',
    { class: 'compare', 'data-key': other.key },
    h('p', { class: 'quiet' }, `They differ in ${count(places.length, 'place')}.`),
    table({ caption: 'Differences', columns: ['At', 'First version, kept', 'Other version'], rows }),
    rest && h('p', { class: 'quiet' }, rest),
  );
}

function whereOf({ start, equalBefore }) {
  return h(
    'div',
    {},
    start === null ? '–' : position(start),
    equalBefore > 0 && h('p', { class: 'detail' }, `after ${count(equalBefore, 'equal word')}`),
  );
}

/** Changed words in an element that says so, and in words for screen readers that do not read such elements out. */
function side(runs, tag, label) {
  if (runs.length === 0) return h('span', { class: 'quiet' }, 'nothing');
  return h(
    'div',
    { class: 'version', dir: 'auto' },
    runs.map(({ changed, text: whole }, index) => {
      const text = index === 0 ? whole.trimStart() : whole;
      if (!changed) return text;
      const space = /^\s*/.exec(text)[0];
      return [
        space,
        h(
          tag,
          {},
          h('span', { class: 'unseen' }, label),
          text.slice(space.length),
          h('span', { class: 'unseen' }, '.'),
        ),
      ];
    }),
  );
}
