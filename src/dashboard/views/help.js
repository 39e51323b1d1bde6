import { h, link } from '../lib/dom.js';
import { HELP_TOPICS } from '../lib/help-topics.js';
import { emptyPanel, heading } from '../lib/panels.js';
import { own } from '../lib/words.js';

/** @import { Screen } from '../lib/screen.js' */

/**
 * The short form of a runbook.
 * @param {Screen} screen
 */
export function helpView(screen) {
  const topic = own(HELP_TOPICS, screen.route.id);
  screen.start(topic?.title ?? 'Help');
  if (topic === undefined) {
    screen.render(
      heading('Help'),
      emptyPanel('There is no help on this.', link('#/', 'Back to the overview')),
    );
    return;
  }
  screen.render(
    heading(topic.title),
    h('p', { class: 'prose' }, topic.means),
    h('h2', {}, 'What to do'),
    h(
      'ol',
      { class: 'prose steps' },
      topic.steps.map((step) => h('li', {}, stepOf(step))),
    ),
    h('p', {}, link('#/', 'Back to the overview')),
  );
}

/** @param {string} text */
function stepOf(text) {
  const command = /^`(.+)`$/.exec(text);
  return command === null ? text : h('code', { class: 'command' }, command[1]);
}
