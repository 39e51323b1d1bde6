import { reasonInWords, remedyFor } from '../../vendor/reasons.js';
import { bytes, capital, count, listed, milliseconds } from './format.js';
import { callbackStatusInWords, kindInWords, objectKindInWords, outcomeOf, own } from './ledger-terms.js';

/** @import { LedgerLine } from '../api/api-answers.js' */
/** @import { Tone } from '../elements/status.js' */

/**
 * What happened, according to a ledger line. The texts may contain untrusted input: show them as text.
 * @param {LedgerLine} line @returns {{tone: Tone, title: string, details: string[]}}
 */
export function describeLine(line) {
  return {
    tone: toneOf(line),
    title: titleOf(line),
    details: detailsOf(line).filter((text) => typeof text === 'string'),
  };
}

/**
 * A callback that reports a failed job needs attention even if it was stored.
 * @param {LedgerLine} line
 */
function toneOf({ outcome, origin, status }) {
  const { tone } = outcomeOf(outcome);
  const reportsFailure = origin === 'callback' && status !== null && status !== 'success';
  return reportsFailure && tone !== 'bad' ? 'notice' : tone;
}

/** @param {LedgerLine} line */
function titleOf(line) {
  const title = own(own(BY_ORIGIN, line.origin) ?? {}, line.outcome) ?? own(ANY_ORIGIN, line.outcome);
  return title ? title(line) : `${capital(String(line.origin))}: ${String(line.outcome)}`;
}

/** @typedef {Record<string, (line: LedgerLine) => string>} Titles by outcome */

/** @type {Record<string, Titles>} */
const BY_ORIGIN = {
  callback: {
    stored: (line) => `A callback arrived and was stored: ${itemsOf(line)}`,
    duplicate: () => 'A duplicate callback with the same bytes; nothing had to be stored',
    conflict: () =>
      'A callback had different bytes; the first version is kept, and this one is stored next to it',
    noted: () => 'A callback with nothing to store was recorded',
    quarantined: (line) =>
      `A callback could not be decoded: ${reasonInWords(line.reason)}. Its body is in quarantine`,
    refused: (line) => `A callback was rejected: ${reasonInWords(line.reason) ?? 'no reason was recorded'}`,
  },
  recovery: {
    recovered: (line) => `Missing results were fetched from the service: ${itemsOf(line)}`,
    conflict: () => 'The service’s copy differs from the stored one; both are kept',
    unrecoverable: () => 'The service no longer has the missing results',
    failed: () => 'Fetching from the service failed',
    stored: (line) => `Fetched from the service: ${itemsOf(line)}`,
  },
  import: {
    stored: (line) => `Imported: ${itemsOf(line)}`,
    duplicate: () => 'An import contained only what is already stored',
    conflict: () =>
      'An import had different bytes; the first version is kept, and this one is stored next to it',
  },
  replay: {
    recovered: (line) => `A replay fetched from the service: ${itemsOf(line)}`,
    stored: (line) => `A replay stored: ${itemsOf(line)}`,
    duplicate: () => 'A replay found everything already stored',
    failed: () => 'A replay failed',
  },
  realtime: { stored: (line) => `A realtime session was stored: ${itemsOf(line)}` },
};

/** @type {Titles} */
const ANY_ORIGIN = {
  released: (line) => `The quarantined body was released: ${itemsOf(line)}`,
  'release-failed': () => 'A quarantined body was not released; it is as it was before',
  dismissed: () => 'An operator dismissed a quarantined body; it no longer waits',
  acknowledged: () => 'An operator acknowledged the job; it is no longer listed as failing',
  erased: () => 'Everything stored for this job was erased',
  ended: ({ ended }) =>
    ended
      ? `${objectKindInWords(ended.kind)} ended by retention: ${count(ended.objects, 'object')}`
      : 'Objects ended by retention',
  read: ({ items, reason }) =>
    reason === 'ticket'
      ? 'A ticket for downloads was issued'
      : `Content was read: ${listed(items.map(({ kind, key }) => (key.startsWith('quarantine/') ? 'quarantined body' : kindInWords(kind))))}`,
  'signed-in': () => 'Signed in to the admin port',
  'sign-in-failed': () => 'A sign-in to the admin port failed',
  'credential-checked': ({ source, reason }) =>
    `Explain checked a credential of ${source}: ${reason === null ? 'it is valid' : 'it is not valid'}`,
  replayed: ({ jobId }) => (jobId === null ? 'A replay was started' : 'A refetch was started'),
  cancelled: () => 'A replay was cancelled',
  failed: () => 'A repair failed',
  refused: (line) => `Rejected: ${reasonInWords(line.reason) ?? 'no reason was recorded'}`,
};

/** @param {LedgerLine} line */
function detailsOf(line) {
  const { origin, outcome, reason, status } = line;
  const isInTitle = origin === 'callback' && (outcome === 'quarantined' || outcome === 'refused');
  return [
    origin === 'callback' && status !== null && `The service reported ${callbackStatusInWords(status)}.`,
    sentBy(line),
    !isInTitle && reason && `${capital(reasonInWords(reason) ?? '')}.`,
    remedyFor(reason),
    line.actor &&
      `By ${line.actor}${line.origin === 'admin' && line.clientIp ? ` from ${line.clientIp}` : ''}.`,
    line.wouldRefuse &&
      `Accepted in report mode; enforcement would reject it: ${reasonInWords(line.wouldRefuse)}.`,
    line.contextOmitted && `Left out of the context: ${omittedIn(line.contextOmitted)}.`,
  ];
}

/** @param {NonNullable<LedgerLine['contextOmitted']>} omitted */
function omittedIn(omitted) {
  const reasons = Object.entries(omitted).filter(([, reason]) => typeof reason === 'string');
  return listed(reasons.map(([name, reason]) => `${name} (${reason})`));
}

/** @param {LedgerLine} line */
function sentBy(line) {
  if (line.origin === 'retention') return `${bytes(line.bytes)} were removed.`;
  if (line.origin !== 'callback')
    return line.bytes > 0 && `${bytes(line.bytes)} in ${milliseconds(line.durationMs)}.`;
  const from = [line.clientIp, line.region && `region ${line.region}`].filter(Boolean).join(', ');
  const how = line.credential ? ` with credential ${line.credential}` : '';
  return `${bytes(line.bytes)} in ${milliseconds(line.durationMs)}${from && ` from ${from}`}${how}.`;
}

/**
 * "transcript (json-v2) and media, 2 of them new"
 * @param {Pick<LedgerLine, 'items'>} line
 */
export function itemsOf({ items = [] }) {
  if (items.length === 0) return 'nothing';
  const names =
    items.length > 4 ? count(items.length, 'item') : listed(items.map(({ kind }) => kindInWords(kind)));
  const fresh = items.filter(({ outcome }) => outcome === 'created').length;
  if (fresh === items.length) return names;
  if (items.every(({ outcome }) => outcome === 'conflict')) return `${names}, with different bytes`;
  return fresh === 0 ? `${names}, nothing new` : `${names}, ${count(fresh)} of them new`;
}
