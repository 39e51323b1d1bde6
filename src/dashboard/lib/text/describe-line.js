import { bytes, capital, count, listed, milliseconds } from './format.js';
import {
  callbackStatusInWords,
  kindInWords,
  outcomeOf,
  own,
  reasonInWords,
  remedyFor,
} from './ledger-terms.js';

/** @import { LedgerLine } from '../api/api-answers.js' */
/** @import { Tone } from '../elements/status.js' */

/**
 * What a ledger line says happened: `{tone, title, details}`. Everything in it may come from strangers and is
 * to be shown as text.
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
 * A callback that tells of a failure is worth a look, however well it was received.
 * @param {LedgerLine} line
 */
function toneOf({ outcome, origin, status }) {
  const { tone } = outcomeOf(outcome);
  const tellsOfFailure = origin === 'callback' && status !== null && status !== 'success';
  return tellsOfFailure && tone !== 'bad' ? 'notice' : tone;
}

/** @param {LedgerLine} line */
function titleOf(line) {
  const teller = own(own(TELLERS, line.origin) ?? {}, line.outcome) ?? own(GENERAL, line.outcome);
  return teller ? teller(line) : `${capital(String(line.origin))}: ${String(line.outcome)}`;
}

/** @typedef {Record<string, (line: LedgerLine) => string>} Tellers by outcome */

/** @type {Record<string, Tellers>} */
const TELLERS = {
  callback: {
    stored: (line) => `A callback arrived and was stored: ${itemsOf(line)}`,
    duplicate: () => 'The callback came again with the same bytes; nothing had to be stored',
    conflict: () =>
      'A callback brought different bytes; the first are kept, and these are stored beside them',
    noted: () => 'A callback without anything to store was noted',
    quarantined: (line) =>
      `A callback’s body could not be decoded: ${reasonInWords(line.reason)}. It is safe in quarantine`,
    refused: (line) => `A callback was refused: ${reasonInWords(line.reason) ?? 'no reason was recorded'}`,
  },
  recovery: {
    recovered: (line) => `Missing results were fetched from the service: ${itemsOf(line)}`,
    conflict: () => 'The service’s copy differs from what was stored; both are kept',
    unrecoverable: () => 'The service no longer has the missing results',
    failed: () => 'Fetching from the service failed',
    stored: (line) => `Fetched from the service: ${itemsOf(line)}`,
  },
  import: {
    stored: (line) => `Imported by hand: ${itemsOf(line)}`,
    duplicate: () => 'An import brought nothing new: the same bytes are already stored',
    conflict: () => 'An import brought different bytes; the first are kept, and these are stored beside them',
  },
  replay: {
    recovered: (line) => `A replay fetched from the service: ${itemsOf(line)}`,
    stored: (line) => `A replay stored: ${itemsOf(line)}`,
    duplicate: () => 'A replay found everything already stored',
    failed: () => 'A replay failed',
  },
  realtime: { stored: (line) => `A realtime session was stored: ${itemsOf(line)}` },
};

/** @type {Tellers} */
const GENERAL = {
  released: (line) => `The quarantined body was released: ${itemsOf(line)}`,
  acknowledged: () => 'An operator acknowledged it; it no longer counts as failing',
  erased: () => 'Everything stored for this job was erased',
  replayed: ({ jobId }) => (jobId === null ? 'A replay was started' : 'A refetch was started'),
  cancelled: () => 'A replay was cancelled',
  failed: () => 'A repair failed',
  refused: (line) => `Refused: ${reasonInWords(line.reason) ?? 'no reason was recorded'}`,
};

/** @param {LedgerLine} line */
function detailsOf(line) {
  const { origin, outcome, reason, status } = line;
  const told = origin === 'callback' && (outcome === 'quarantined' || outcome === 'refused');
  return [
    origin === 'callback' && status !== null && `The service reported ${callbackStatusInWords(status)}.`,
    sentBy(line),
    !told && reason && `${capital(reasonInWords(reason) ?? '')}.`,
    remedyFor(reason),
    line.actor && `By ${line.actor}.`,
    line.wouldRefuse && `Let through in report mode: ${reasonInWords(line.wouldRefuse)}.`,
  ];
}

/** @param {LedgerLine} line */
function sentBy(line) {
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
