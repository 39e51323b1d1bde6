/** @import { Tone } from './status.js' */

import { elementById } from './dom.js';

/** Announces the result of an action, also to screen readers. */

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

/** Announces a text to screen readers if it differs from the previous one; the page itself shows the first. */
/** @type {string | null} */
let lastStatus = null;
/** @param {string} text */
export function announceStatus(text) {
  if (text !== lastStatus && lastStatus !== null) elementById('said').textContent = text;
  lastStatus = text;
}
