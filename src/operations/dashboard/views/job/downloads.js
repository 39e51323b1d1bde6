import { API, post } from '../../lib/api/admin-api.js';

/** @import { Ticket } from '../../lib/api/api-answers.js' */
/** @typedef {ReturnType<typeof createDownloads>} Downloads */

/** Addresses of a job's artefacts for links, which cannot send headers: each has a short-lived ticket. */

const MARGIN = 10 * 60_000;

/** @param {string} jobId */
export function createDownloads(jobId) {
  /** @type {Ticket | null} */
  let ticket = null;
  return {
    /** Gets a new ticket if the current one is about to expire. Rejects with `ApiError`. */
    async renew() {
      if (ticket !== null && Date.parse(ticket.expires) - Date.now() > MARGIN) return;
      ticket = await post(`/jobs/${encodeURIComponent(jobId)}/ticket`);
    },
    /**
     * Call `renew` before.
     * @param {string} key
     */
    address: (key) =>
      `${API}${pathOf(jobId, key)}${ticket === null ? '' : `?ticket=${encodeURIComponent(ticket.ticket)}`}`,
  };
}

/**
 * Path of an artefact below the admin API, by its key.
 * @param {string} jobId @param {string} key @returns {`/jobs/${string}/artefacts/${string}`}
 */
export function pathOf(jobId, key) {
  return `/jobs/${encodeURIComponent(jobId)}/artefacts/${key.split('/').map(encodeURIComponent).join('/')}`;
}
