import { deliveryPages } from '../../lib/api/delivery-pages.js';
import { saveFile } from '../../lib/elements/dom.js';
import { count } from '../../lib/text/format.js';
import { deliveriesCsv } from '../../vendor/deliveries-csv.js';

/** @import { LedgerLine } from '../../lib/api/api-answers.js' */
/** @import { Announcement } from '../../lib/elements/notice.js' */
/** @import { FilterValues } from '../../lib/elements/filter-form.js' */

/** A table that spreadsheets open without effort; more is a case for the Parquet files of the ledger. */
const MOST_LINES = 50_000;

/**
 * Saves the deliveries that match as a CSV file, newest first. The announcement says where the file ends early.
 * @param {FilterValues} filters as the API has them @returns {Promise<Announcement>}
 */
export async function exportDeliveries(filters) {
  /** @type {LedgerLine[]} */
  const lines = [];
  /** @type {Set<string>} */
  const faults = new Set();
  let isCut = false;
  for await (const page of deliveryPages(filters)) {
    lines.push(...page.deliveries);
    for (const fault of page.faults) faults.add(fault);
    isCut = page.nextCursor !== null && lines.length >= MOST_LINES;
    if (isCut) break;
  }
  saveFile(
    `deliveries-${new Date().toISOString().slice(0, 16).replace(':', '')}Z.csv`,
    deliveriesCsv(lines),
    'text/csv',
  );
  const saved = `${count(lines.length, 'line')} exported`;
  if (isCut) return { text: `${saved}, the newest ones. Choose a shorter time to get all.`, tone: 'notice' };
  return faults.size === 0
    ? { text: `${saved}.`, tone: 'good' }
    : { text: `${saved}. Not read: ${[...faults].join('; ')}.`, tone: 'notice' };
}
