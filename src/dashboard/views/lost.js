import { link } from '../lib/dom.js';
import { emptyPanel, heading } from '../lib/panels.js';

/** @import { Screen } from '../lib/screen.js' */

/** @param {Screen} screen */
export function lostView(screen) {
  screen.start('Not found');
  screen.render(
    heading('There is nothing here'),
    emptyPanel('This address leads to no page.', link('#/', 'Go to the overview')),
  );
}
