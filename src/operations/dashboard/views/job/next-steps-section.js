import { may } from '../../lib/api/session.js';
import { copyButton } from '../../lib/elements/copy-button.js';
import { h, link } from '../../lib/elements/dom.js';

/** @import { NextStep } from '../../vendor/next-steps.js' */

/**
 * What to do next, each step with its command for a terminal. Null where nothing has to be done.
 * @param {readonly NextStep[]} steps the recommended one first
 */
export function nextStepsSection(steps) {
  if (steps.length === 0) return null;
  return h(
    'section',
    { class: 'panel next', 'aria-labelledby': 'next', 'data-key': 'next' },
    h('h2', { id: 'next' }, 'What to do next'),
    h(
      'ol',
      { class: 'rows' },
      steps.map(({ words, command }) =>
        h(
          'li',
          { 'data-key': command },
          h('p', {}, words),
          h(
            'p',
            { class: 'detail id' },
            h('code', { class: 'command' }, command),
            copyButton(command, command),
          ),
        ),
      ),
    ),
    !may('repair') &&
      h(
        'p',
        { class: 'quiet' },
        'This token may not repair. Run the commands where the receiver runs, or ask somebody whose token may.',
      ),
    // Neither of two versions is missing.
    steps.every(({ action }) => action !== 'choose') &&
      h('p', { class: 'quiet' }, link('#/help/missing', 'A transcript is missing: where it can be')),
  );
}
