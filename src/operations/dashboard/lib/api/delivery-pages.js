import { get } from './admin-api.js';

/** @import { Deliveries } from './api-answers.js' */

/** The most that the API gives at once. */
const PAGE = 500;

/**
 * All deliveries that match, newest first, page by page.
 * @param {Record<string, string>} filters as the API has them @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Deliveries, void>}
 */
export async function* deliveryPages(filters, signal) {
  /** @type {string | null} */
  let cursor = null;
  do {
    const query = { ...filters, limit: PAGE, cursor };
    /** @type {Deliveries} */
    const page = await get('/deliveries', { query, signal });
    yield page;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
