import { send } from './api.js';

/** Addresses of a job's artefacts for elements that cannot send headers, each with a ticket that soon expires. */

const MARGIN = 10 * 60_000;

export function createDownloads(jobId) {
  let ticket = null;
  return {
    /** A fresh ticket when the one at hand runs out; rejects with `ApiError`. */
    async renew({ force = false } = {}) {
      if (!force && ticket !== null && Date.parse(ticket.expires) - Date.now() > MARGIN) return;
      ticket = await send('POST', `/jobs/${encodeURIComponent(jobId)}/ticket`);
    },
    /** Call `renew` before. */
    address: (key) => `/admin/api${pathOf(jobId, key)}?ticket=${encodeURIComponent(ticket.ticket)}`,
  };
}

/** Path of an artefact below `/admin/api`, by its key. */
export function pathOf(jobId, key) {
  return `/jobs/${encodeURIComponent(jobId)}/artefacts/${key.split('/').map(encodeURIComponent).join('/')}`;
}
