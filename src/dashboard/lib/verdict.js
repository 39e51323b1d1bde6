import { clock } from './format.js';

/** The receiver's own verdict, made ready to be shown: the page adds nothing to it and takes nothing away. */

const TONES = { ok: 'good', warning: 'notice', failing: 'bad' };

/** `{tone, word, sentence, href, more}`; `href` leads to what to do, `more` are the further troubles. */
export function verdictShown({ level, headline, sentence, troubles }) {
  const [first, ...more] = troubles.map(({ text, topic }) => ({
    text: withClock(text),
    href: placeOf(topic),
  }));
  return {
    tone: TONES[level] ?? 'notice',
    word: headline,
    sentence: withClock(sentence),
    href: first?.href,
    more,
  };
}

/** Shown when the receiver cannot be asked any more: what was true at `at` may not be true now. */
export function lastSeen({ headline, sentence }, at) {
  return {
    tone: 'neutral',
    word: `Last seen ${at}`,
    sentence: `At that time: ${headline}. ${withClock(sentence)} The present state is not known.`,
    href: undefined,
    more: [],
  };
}

/** Instants as every other time on the page. */
function withClock(text) {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (instant) => clock(instant));
}

function placeOf(topic) {
  return topic === 'failures' ? '#/failures' : `#/help/${topic}`;
}

export function failingJobs(failing) {
  return Object.values(failing).reduce((sum, number) => sum + number, 0);
}
