/** One place that tells what came of an action; also read out by screen readers. */

const box = () => document.getElementById('notice');

export function announce(text, tone = 'good') {
  box().dataset.tone = tone;
  box().hidden = false;
  document.getElementById('notice-text').textContent = text;
}

export function dismissNotice() {
  box().hidden = true;
  document.getElementById('notice-text').textContent = '';
}

/** For screen readers, only when it differs from what was said last; the first time the page itself says it. */
let lastSaid = null;
export function sayOnce(text) {
  if (text !== lastSaid && lastSaid !== null) document.getElementById('said').textContent = text;
  lastSaid = text;
}
