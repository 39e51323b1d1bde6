/** @import { Tone } from './status.js' */

import { elementById } from './dom.js';

/** One place that tells what came of an action; also read out by screen readers. */

/** @typedef {{text: string, tone: Tone}} Announcement */

const box = () => elementById('notice');

/** @param {string} text @param {Tone} [tone] */
export function announce(text, tone = 'good') {
  box().dataset.tone = tone;
  box().hidden = false;
  elementById('notice-text').textContent = text;
}

export function dismissNotice() {
  box().hidden = true;
  elementById('notice-text').textContent = '';
}

/** For screen readers, only when it differs from what was said last; the first time the page itself says it. */
/** @type {string | null} */
let lastSaid = null;
/** @param {string} text */
export function sayOnce(text) {
  if (text !== lastSaid && lastSaid !== null) elementById('said').textContent = text;
  lastSaid = text;
}
