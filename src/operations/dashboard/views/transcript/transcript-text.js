import { h } from '../../lib/elements/dom.js';
import { position } from '../../lib/text/format.js';

/** @import { Transcript, Turn, Word } from './read-transcript.js' */

/** Turns rendered at once; a long meeting has thousands. */
const PAGE = 150;

/**
 * The text of a transcript.
 * @param {Transcript} transcript @param {string} key
 */
export function transcriptText({ turns }, key) {
  const host = h('div', {
    class: 'transcript',
    'data-key': key,
    'data-keep': key,
    tabindex: '0',
    role: 'region',
    'aria-label': 'Text of the transcript',
  });
  if (turns.length === 0) host.append(h('p', { class: 'quiet' }, 'The transcript is empty.'));
  showMore(host, turns, 0);
  return host;
}

/** @param {HTMLElement} host @param {readonly Turn[]} turns @param {number} from */
function showMore(host, turns, from) {
  const to = Math.min(turns.length, from + PAGE);
  for (const [index, turn] of turns.slice(from, to).entries())
    host.append(turnOf(turn, turns[from + index - 1]));
  if (to === turns.length) return;
  const more = h('button', { type: 'button', class: 'plain' }, `Show more (${turns.length - to} left)`);
  more.onclick = () => {
    more.remove();
    showMore(host, turns, to);
    host.querySelector('button')?.focus();
  };
  host.append(more);
}

/** @param {Turn} turn @param {Turn | undefined} before */
function turnOf({ speaker, start, words }, before) {
  const changed = speaker !== null && speaker !== before?.speaker;
  return h(
    'p',
    { class: 'turn', dir: 'auto' },
    start !== null && h('span', { class: 'stamp' }, position(start), ' '),
    changed && [h('strong', { class: 'speaker' }, `Speaker ${speaker}`), ' '],
    words.map((word) => [word.before, wordOf(word)]),
  );
}

/** @param {Word} word */
function wordOf({ text, sure }) {
  return h('span', { class: sure ? 'word' : 'word unsure', title: sure ? null : 'low confidence' }, text);
}
