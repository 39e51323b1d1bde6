import { contextValues, hasContext } from '../lib/elements/context-values.js';
import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, jobLink, moment, outcomeBadge, toDelivery } from '../lib/elements/panels.js';
import { status } from '../lib/elements/status.js';
import { figure, table } from '../lib/elements/table.js';
import { describeLine, itemsOf } from '../lib/text/describe-line.js';
import { bytes, capital, milliseconds } from '../lib/text/format.js';
import { actOf, isAccess, provenanceOf } from '../lib/text/ledger-terms.js';
import { whyUnknown } from '../lib/text/why-unknown.js';
import { isUnsuccessful } from '../vendor/job.js';
import { reasonInWords } from '../vendor/reasons.js';

/** @import { Health, LedgerLine } from '../lib/api/api-answers.js' */
/** @import { Child } from '../lib/elements/element-types.js' */

/**
 * The columns in order.
 * @type {readonly {name: string, cell: (line: LedgerLine, now: number) => Child}[]}
 */
const COLUMNS = [
  { name: 'When', cell: whenOf },
  { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
  { name: 'Outcome', cell: ({ outcome }) => outcomeBadge(outcome) },
  { name: 'Status', cell: (line) => statusOf(line.status) },
  { name: 'From', cell: fromOf },
  { name: 'What', cell: whatOf },
  { name: 'Size', cell: (line) => figure(bytes(line.bytes)) },
  { name: 'Took', cell: ({ durationMs }) => figure(milliseconds(durationMs)) },
];
const CONTEXT = { name: 'Context', cell: (/** @type {LedgerLine} */ line) => contextValues([line]) };

/**
 * Ledger lines, newest first.
 * @param {readonly LedgerLine[]} lines @param {string} caption @param {number} now
 */
export function deliveryTable(lines, caption, now) {
  const columns = hasContext(lines) ? [...COLUMNS, CONTEXT] : COLUMNS;
  const atNow = columns.map(({ name, cell }) => ({
    name,
    cell: (/** @type {LedgerLine} */ line) => cell(line, now),
  }));
  return table(caption, lines, identityOf, atNow, 'deliveries');
}

/**
 * The line of an operator's action has the id of the delivery it concerns.
 * @param {LedgerLine} line
 */
export function identityOf({ deliveryId, outcome, receivedAt }) {
  return `${deliveryId} ${outcome} ${receivedAt}`;
}

/**
 * The time links to the delivery.
 * @param {LedgerLine} line @param {number} now
 */
function whenOf(line, now) {
  const when = moment(line.receivedAt, now);
  return line.jobId === null ? when : link(toDelivery(line), when);
}

/**
 * The status that the service reported.
 * @param {string | null} text
 */
function statusOf(text) {
  if (text === null) return '–';
  return isUnsuccessful(text) ? status('notice', text) : text;
}

/** Characters of a source and its region that stay on one line: each row would have two. */
const SHORT_PLACE = 20;

/** @param {LedgerLine} line */
function fromOf(line) {
  const all = [line.source, line.region].filter(Boolean).join(' · ');
  const place = all.length > SHORT_PLACE ? all : all.replaceAll(' ', '\u00a0');
  if (line.origin === 'callback') return place || 'callback';
  const address = isAccess(line) && line.clientIp;
  return [provenanceOf(line), address, place].filter(Boolean).join(' · ');
}

/**
 * What was stored, or why nothing was: an operator's words as they were typed.
 * @param {LedgerLine} line
 */
function whatOf(line) {
  if (isAccess(line)) return describeLine(line).title;
  const typed = actOf(line) !== null && line.reason;
  if (line.items.length > 0) return [capital(itemsOf(line)), typed && h('p', { class: 'detail' }, typed)];
  if (actOf(line) !== null) return typed || '–';
  const reason = reasonInWords(line.reason);
  if (reason) return capital(reason);
  return isAccess(line) ? '–' : 'Nothing to store';
}

const EXAMPLE = '{"format":"2.9","results":[{"alternatives":[{"content":"Hello"}]}]}';

/**
 * How to send a first callback, while nothing has arrived yet as far as is known.
 * @param {Health} health @param {number} now
 */
export function firstCallback(health, now) {
  const why = health.unknown.last24h;
  if (why !== undefined) {
    return emptyPanel('Unknown', ...whyUnknown(why, now).map((text) => h('p', {}, `${text}.`)));
  }
  const [first] = health.sources;
  if (first === undefined)
    return emptyPanel('Nothing has arrived yet.', h('p', {}, 'No source is configured.'));
  const { source, headers } = first;
  const { url, port } = health.callbackAddress;
  const base = url ?? `http://${location.hostname}:${port ?? '<port>'}`;
  const credential = headers.map((name) => ` -H '${name}: <secret of ${source}>'`).join('');
  return emptyPanel(
    'Nothing has arrived yet.',
    h('p', {}, 'Send a first callback to see it here:'),
    h(
      'pre',
      { class: 'command', tabindex: '0' },
      `curl${credential} -H 'Content-Type: application/json' \\\n  -d '${EXAMPLE}' \\\n  '${base}/callbacks/${source}?id=first-job&status=success'`,
    ),
    h(
      'p',
      {},
      'This command prints the notification settings to submit with a job: ',
      h('code', {}, `transcript-receiver notification-config ${source}`),
    ),
  );
}
