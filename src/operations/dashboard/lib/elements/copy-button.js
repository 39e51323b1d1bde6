import { h, svg } from './dom.js';
import { announce } from './notice.js';

/**
 * Copies a text; `what` names it for screen readers and in the notice. Null where the browser has no clipboard.
 * @param {string} text @param {string} what
 */
export function copyButton(text, what) {
  if (!navigator.clipboard) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`Copied: ${what}.`);
    } catch {
      announce('The browser blocked copying. Select the text instead.', 'bad');
    }
  };
  return h(
    'button',
    { type: 'button', class: 'copy', 'aria-label': `Copy ${what}`, title: `Copy ${what}`, onclick: copy },
    svg(
      'svg',
      { viewBox: '0 0 16 16', 'aria-hidden': 'true' },
      svg('path', { d: 'M5.5 5.5h8v8h-8z' }),
      svg('path', { d: 'M3.5 10.5h-1v-8h8v1' }),
    ),
  );
}
