import { act } from '../lib/actions.js';
import { post } from '../lib/api.js';
import { ask } from '../lib/dialog.js';
import { h } from '../lib/dom.js';

/** @import { ButtonEvent } from '../lib/element-types.js' */
/** @import { Refresh } from '../lib/screen.js' */

/**
 * An operator accepts the state as it is: the job no longer counts as failing.
 * @param {string} jobId @param {Refresh} again @param {string | null} [size]
 */
export function settleButton(jobId, again, size = null) {
  /** @param {ButtonEvent} event */
  const settle = async (event) => {
    const button = event.currentTarget;
    const agreed = await ask({
      title: `Acknowledge job ${jobId}?`,
      body: h(
        'p',
        {},
        'It is no longer listed as failing, until it fails again. Nothing is deleted or fetched. The ledger records who acknowledged it and why.',
      ),
      confirm: 'Acknowledge',
      reasonRequired: true,
    });
    if (agreed === null) return;
    await act(button, async () => {
      await post(`/jobs/${encodeURIComponent(jobId)}/acknowledge`, agreed);
      return `Job ${jobId} was acknowledged.`;
    });
    await again();
  };
  return h(
    'button',
    { type: 'button', class: ['plain', size].filter(Boolean).join(' '), onclick: settle },
    'Acknowledge…',
    h('span', { class: 'unseen' }, ` job ${jobId}`),
  );
}
