import { may } from '../../lib/api/session.js';
import { copyButton } from '../../lib/elements/copy-button.js';
import { h, link } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';

/** @import { Child } from '../../lib/elements/element-types.js' */
/** @import { NextStep } from '../../vendor/next-steps.js' */

/**
 * The button or link that does a step on the page; null where only a command does it.
 * @typedef {(step: NextStep, isFirst: boolean) => Child} DoStep
 */

/**
 * What to do next, each step with what does it here and its command for a terminal. Null where nothing has to be done.
 * @param {readonly NextStep[]} steps the recommended one first @param {DoStep} [doStep]
 */
export function nextStepsSection(steps, doStep = () => null) {
  if (steps.length === 0) return null;
  return section(
    { id: 'next', title: 'What to do next', look: 'panel' },
    h(
      'ol',
      { class: 'rows' },
      steps.map((step, index) => stepItem(step, doStep(step, index === 0))),
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

/** @param {NextStep} step @param {Child} act */
function stepItem({ words, command }, act) {
  return h(
    'li',
    { 'data-key': command },
    h('p', {}, words),
    act && h('p', { class: 'buttons' }, act),
    h('p', { class: 'detail id' }, h('code', { class: 'command' }, command), copyButton(command, command)),
  );
}
