import { post } from '../../lib/api/admin-api.js';
import { may } from '../../lib/api/session.js';
import { button, unseen } from '../../lib/elements/button.js';
import { confirmed } from '../../lib/elements/run-action.js';

/** @import { Refresh } from '../../lib/screen/screen.js' */

/**
 * Settles a quarantined body that need not be released, with a reason.
 * @param {string} deliveryId @param {string} jobId @param {Refresh} again @param {string} [look]
 */
export function dismissButton(deliveryId, jobId, again, look = 'plain small') {
  const dismiss = confirmed(
    () => ({
      title: 'Dismiss this body?',
      body: 'The body no longer waits. It is not deleted, and can still be released. The ledger records who dismissed it and why.',
      confirm: 'Dismiss',
      reasonRequired: true,
    }),
    async (agreed) => {
      await post(`/quarantine/${encodeURIComponent(deliveryId)}/dismiss`, agreed);
      return `The body of job ${jobId} was dismissed.`;
    },
    again,
  );
  return may('repair') && button(['Dismiss…', unseen(` the body of job ${jobId}`)], dismiss, look);
}
