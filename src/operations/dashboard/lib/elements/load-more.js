import { button } from './button.js';
import { h } from './dom.js';

/** @import { Refresh } from '../screen/screen.js' */

/** The API's upper bound of a page. */
const MOST = 500;
/** Rows of a list that needs no opening. */
export const SHORT_LIST = 5;

/**
 * How many rows of a list are asked for. The list is refreshed as a whole, so that every row stays current.
 * @typedef {{shown: number}} ShownRows
 */

/**
 * Asks for further rows of a list, and says where the page shows no more of them; null where there are none.
 * @param {string} what @param {ShownRows} rows @param {string | null} nextCursor @param {Refresh} again
 */
export function loadMore(what, rows, nextCursor, again) {
  if (nextCursor === null) return null;
  if (rows.shown >= MOST)
    return h(
      'p',
      { class: 'quiet', 'data-key': `more ${what}` },
      `The page shows ${MOST} ${what} at most: narrow them down.`,
    );
  const onclick = async () => {
    rows.shown = Math.min(MOST, rows.shown + 80);
    await again();
  };
  return h('p', { 'data-key': `more ${what}` }, button(`Load more ${what}`, onclick, 'plain'));
}
