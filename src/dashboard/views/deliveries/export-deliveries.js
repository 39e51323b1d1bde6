import { get } from '../../lib/api/admin-api.js';
import { saveFile } from '../../lib/elements/dom.js';
import { count } from '../../lib/text/format.js';

/** @import { LedgerLine } from '../../lib/api/api-answers.js' */
/** @import { Announcement } from '../../lib/elements/notice.js' */
/** @import { FilterValues } from '../../lib/forms/filter-form.js' */

/** A table that spreadsheets open without effort; more is a case for the Parquet files of the ledger. */
const MOST_LINES = 50_000;
/** The most that the API gives at once. */
const PAGE = 500;

/** @type {(keyof LedgerLine)[]} */
const COLUMNS = [
  'receivedAt',
  'jobId',
  'outcome',
  'reason',
  'status',
  'source',
  'region',
  'origin',
  'actor',
  'bytes',
  'durationMs',
  'deliveryId',
];

/**
 * Saves the deliveries that match as a CSV file, newest first. The announcement says where the file ends early.
 * @param {FilterValues} filters as the API has them @param {AbortSignal} signal @returns {Promise<Announcement>}
 */
export async function exportDeliveries(filters, signal) {
  /** @type {LedgerLine[]} */
  const lines = [];
  /** @type {Set<string>} */
  const faults = new Set();
  /** @type {string | null} */
  let cursor = null;
  do {
    const query = { ...filters, limit: PAGE, cursor };
    /** @type {import('../../lib/api/api-answers.js').Deliveries} */
    const page = await get('/deliveries', { query, signal });
    lines.push(...page.deliveries);
    for (const fault of page.faults) faults.add(fault);
    cursor = page.nextCursor;
  } while (cursor !== null && lines.length < MOST_LINES);
  saveFile(
    `deliveries-${new Date().toISOString().slice(0, 16).replace(':', '')}Z.csv`,
    csvOf(lines),
    'text/csv',
  );
  const saved = `${count(lines.length, 'line')} exported`;
  if (cursor !== null)
    return { text: `${saved}, the newest ones. Choose a shorter time to get all.`, tone: 'notice' };
  return faults.size === 0
    ? { text: `${saved}.`, tone: 'good' }
    : { text: `${saved}. Not read: ${[...faults].join('; ')}.`, tone: 'notice' };
}

/** @param {readonly LedgerLine[]} lines */
export function csvOf(lines) {
  const contexts = [...new Set(lines.flatMap(({ context }) => Object.keys(context ?? {})))].sort();
  const rows = lines.map((line) => [
    ...COLUMNS.map((name) => line[name]),
    ...contexts.map((name) => line.context?.[name]),
  ]);
  return [[...COLUMNS, ...contexts], ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/**
 * Quoted as RFC 4180 asks. Spreadsheets take text that begins with one of these signs for a formula; ids and context
 * come from senders, so an apostrophe keeps it text.
 * @param {unknown} value
 */
function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
