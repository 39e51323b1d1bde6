import { h } from '../../lib/elements/dom.js';
import { position } from '../../lib/text/format.js';
import { seek } from './media-player.js';

/** @import { Transcript, Turn, Word } from './read-transcript.js' */

/** Turns rendered at once; a long meeting has thousands. */
const PAGE = 150;

/**
 * The text of a transcript; a click on a word plays the media from there.
 * @param {Transcript} transcript @param {string} key @param {boolean} hasMedia
 */
export function transcriptText({ turns }, key, hasMedia) {
  const host = h('div', {
    class: hasMedia ? 'transcript playable' : 'transcript',
    'data-key': key,
    'data-keep': `${key} ${hasMedia}`,
    tabindex: '0',
    role: 'region',
    'aria-label': 'Text of the transcript',
  });
  if (turns.length === 0) host.append(h('p', { class: 'quiet' }, 'The transcript is empty.'));
  if (hasMedia) {
    host.onclick = (event) => {
      const word = event.target instanceof Element ? event.target.closest('[data-start]') : null;
      if (word !== null) seek(Number(word.getAttribute('data-start')));
    };
  }
  showMore(host, turns, 0, hasMedia);
  return host;
}

/** @param {HTMLElement} host @param {readonly Turn[]} turns @param {number} from @param {boolean} hasMedia */
function showMore(host, turns, from, hasMedia) {
  const to = Math.min(turns.length, from + PAGE);
  for (const [index, turn] of turns.slice(from, to).entries())
    host.append(turnOf(turn, turns[from + index - 1], hasMedia));
  if (to === turns.length) return;
  const more = h('button', { type: 'button', class: 'plain' }, `Show more (${turns.length - to} left)`);
  more.onclick = () => {
    more.remove();
    showMore(host, turns, to, hasMedia);
    host.children[to]?.querySelector('button')?.focus();
  };
  host.append(more);
}

/** @param {Turn} turn @param {Turn | undefined} before @param {boolean} hasMedia */
function turnOf({ speaker, start, words }, before, hasMedia) {
  const changed = speaker !== null && speaker !== before?.speaker;
  return h(
    'p',
    { class: 'turn', dir: 'auto' },
    start !== null && timeOf(start, hasMedia),
    changed && [h('strong', { class: 'speaker' }, `Speaker ${speaker}`), ' '],
    words.map((word) => [word.before, wordOf(word)]),
  );
}

/**
 * Keyboard users play from the start of a turn; single words respond to the pointer only.
 * @param {number} start @param {boolean} hasMedia
 */
function timeOf(start, hasMedia) {
  const label = position(start);
  if (!hasMedia) return h('span', { class: 'stamp' }, label, ' ');
  return h(
    'button',
    { type: 'button', class: 'stamp', 'data-start': start, 'aria-label': `Play from ${label}` },
    label,
  );
}

/** @param {Word} word */
function wordOf({ text, start, sure }) {
  return h(
    'span',
    { class: sure ? 'word' : 'word unsure', 'data-start': start, title: sure ? null : 'low confidence' },
    text,
  );
}
