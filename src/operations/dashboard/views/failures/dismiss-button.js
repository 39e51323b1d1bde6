import { post } from '../../lib/api/admin-api.js';
import { may } from '../../lib/api/session.js';
import { confirmDialog } from '../../lib/elements/confirm-dialog.js';
import { h } from '../../lib/elements/dom.js';
import { runAction } from '../../lib/elements/run-action.js';

/** @import { ButtonEvent } from '../../lib/elements/element-types.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * Settles a quarantined body that need not be released, with a reason.
 * @param {string} deliveryId @param {string} jobId @param {Refresh} again @param {string | null} [size]
 */
export function dismissButton(deliveryId, jobId, again, size = 'small') {
  if (!may('repair')) return null;
  /** @param {ButtonEvent} event */
  const dismiss = async (event) => {
    const button = event.currentTarget;
    const agreed = await confirmDialog({
      title: 'Dismiss this body?',
      body: h(
        'p',
        {},
        'The body no longer waits. It is not deleted, and can still be released. The ledger records who dismissed it and why.',
      ),
      confirm: 'Dismiss',
      reasonRequired: true,
    });
    if (agreed === null) return;
    await runAction(button, async () => {
      await post(`/quarantine/${encodeURIComponent(deliveryId)}/dismiss`, agreed);
      return `The body of job ${jobId} was dismissed.`;
    });
    await again();
  };
  return h(
    'button',
    { type: 'button', class: ['plain', size].filter(Boolean).join(' '), onclick: dismiss },
    'Dismiss…',
    h('span', { class: 'unseen' }, ` the body of job ${jobId}`),
  );
}
