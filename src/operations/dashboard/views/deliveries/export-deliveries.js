import { get } from '../../lib/api/admin-api.js';
import { saveFile } from '../../lib/elements/dom.js';
import { clock, count } from '../../lib/text/format.js';
import { deliveriesCsv } from '../../vendor/deliveries-csv.js';
import { notIndexedInWords } from '../../vendor/index/index-extent.js';

/** @import { Deliveries, LedgerLine } from '../../lib/api/api-answers.js' */
/** @import { Announcement } from '../../lib/elements/notice.js' */
/** @import { FilterValues } from '../../lib/elements/filter-form.js' */

/** A table that spreadsheets open without effort; more is a case for the command line. */
const MOST_LINES = 50_000;
/** The most that the API gives at once. */
const PAGE = 500;

/**
 * Saves all deliveries that match as a CSV file, newest first. A file that would end early, or leave lines out, is not saved: the
 * announcement says so, and without a beginning asks for one that the index reaches back to.
 * @param {FilterValues} filters as the API has them @returns {Promise<Announcement>}
 */
export async function exportDeliveries(filters) {
  /** @type {LedgerLine[]} */
  const lines = [];
  const { since } = filters;
  /** @type {string | null} */
  let cursor = null;
  do {
    /** @type {Deliveries} */
    const { deliveries, nextCursor, index } = await get('/deliveries', {
      query: { ...filters, limit: PAGE, cursor },
    });
    lines.push(...deliveries);
    const lack = notIndexedInWords(index, { since: since ? Date.parse(since) : undefined }, clock);
    if (lack !== null) return notSaved(`${lack} Choose a time that the index has.`);
    if (nextCursor !== null && lines.length >= MOST_LINES)
      return notSaved(
        `More than ${count(MOST_LINES, 'line')} match. Choose a shorter time, or use "transcript-receiver deliveries --csv".`,
      );
    cursor = nextCursor;
  } while (cursor !== null);
  saveFile(
    `deliveries-${new Date().toISOString().slice(0, 16).replace(':', '')}Z.csv`,
    deliveriesCsv(lines),
    'text/csv',
  );
  return { text: `${count(lines.length, 'line')} exported.`, tone: 'good' };
}

/** @param {string} why @returns {Announcement} */
function notSaved(why) {
  return { text: `Nothing was exported. ${why}`, tone: 'bad' };
}
