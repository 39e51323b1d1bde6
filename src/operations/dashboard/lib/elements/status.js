import { h, svg } from './dom.js';

/** @typedef {'good' | 'notice' | 'bad' | 'neutral' | 'busy'} Tone good, needs attention, needs action, neutral, in progress */

/**
 * A state shown by shape, word and colour.
 * @param {Tone} tone @param {string} word
 */
export function status(tone, word) {
  return h('span', { class: `status ${tone}` }, shape(tone), word);
}

/**
 * The shape alone, for places that show the word themselves.
 * @param {Tone} tone
 */
export function shape(tone) {
  return svg(
    'svg',
    { class: `shape ${tone}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    ...SHAPES[tone](),
  );
}

/** @type {Record<Tone, () => SVGElement[]>} */
const SHAPES = {
  good: () => [svg('circle', { cx: 8, cy: 8, r: 7 }), line('m4.6 8.3 2.3 2.3 4.5-4.9')],
  notice: () => [svg('path', { d: 'M8 1.2 15.4 14.6H.6Z' }), line('M8 6v4M8 12.2v.2')],
  bad: () => [
    svg('path', { d: 'M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1Z' }),
    line('m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2'),
  ],
  neutral: () => [svg('circle', { class: 'ring', cx: 8, cy: 8, r: 5.6 })],
  busy: () => [svg('circle', { class: 'ring dashed', cx: 8, cy: 8, r: 5.6 })],
};

/** @param {string} d */
function line(d) {
  return svg('path', { class: 'mark', d });
}
