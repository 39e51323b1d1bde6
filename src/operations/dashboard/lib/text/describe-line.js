import { callbackStatusInWords, isUnsuccessful, TEST_STATUS } from '../../vendor/job.js';
import { retentionClassInWords } from '../../vendor/kinds.js';
import { reasonInWords } from '../../vendor/reasons.js';
import { omittedInWords, tooLargeInWords } from '../../vendor/submitted-words.js';
import { bytes, capital, clock, count, listed, milliseconds } from './format.js';
import { actOf, kindInWords, outcomeOf, own } from './ledger-terms.js';

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

/** A comparison names what it compared. @param {LedgerLine} line */
function comparedInWords({ items }) {
  return items.length > 0
    ? `Compared with the service, which has the same bytes: ${listed(items.map(({ kind }) => kindInWords(kind)))}`
    : 'Nothing had to be fetched';
}

/**
 * A line that reports a failed job needs attention even if it was stored.
 * @param {LedgerLine} line
 */
function toneOf(line) {
  const { tone } = outcomeOf(line.outcome);
  return isUnsuccessful(line.status) && line.origin !== 'import' && tone !== 'bad' ? 'notice' : tone;
}

/**
 * "Acknowledged by ben: the first version is right", with the operator's words as they were typed; otherwise what happened.
 * @param {LedgerLine} line
 */
function titleOf(line) {
  const act = actOf(line);
  if (act === null) return eventOf(line) ?? `${capital(String(line.origin))}: ${String(line.outcome)}`;
  const by = line.actor ? ` by ${line.actor}` : '';
  return `${capital(act)}${by}${line.reason ? `: ${line.reason}` : ''}`;
}

/** @param {LedgerLine} line */
function eventOf(line) {
  const event = own(own(BY_ORIGIN, line.origin) ?? {}, line.outcome) ?? own(ANY_ORIGIN, line.outcome);
  return event?.(line) ?? null;
}

/** @typedef {Record<string, (line: LedgerLine) => string>} Events by outcome */

/** @type {Record<string, Events>} */
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
    recovered: (line) =>
      isUnsuccessful(line.status)
        ? `The job has no transcript, and its callback was lost: fetched ${itemsOf(line)}`
        : `Missing results were fetched from the service: ${itemsOf(line)}`,
    noted: () => 'The job has no transcript, and its callback was lost: that is on record now',
    conflict: () => 'The service’s copy differs from the stored one; both are kept',
    unrecoverable: () => 'The service no longer has the missing results',
    failed: () => 'Fetching from the service failed',
    stored: (line) => `Fetched from the service: ${itemsOf(line)}`,
    duplicate: comparedInWords,
  },
  import: {
    stored: (line) => `Stored: ${itemsOf(line)}`,
    duplicate: () => 'Everything was already stored',
    conflict: () => 'The bytes differ; the first version is kept, and this one is stored next to it',
  },
  replay: {
    recovered: (line) =>
      isUnsuccessful(line.status)
        ? `The job has no transcript, and its callback was lost: a refetch stored ${itemsOf(line)}`
        : `A refetch stored what was missing: ${itemsOf(line)}`,
    noted: () => 'The job has no transcript, and its callback was lost: a refetch recorded that',
    stored: (line) => `A refetch stored: ${itemsOf(line)}`,
    conflict: () => 'The service’s copy differs from the stored one; both are kept',
    duplicate: comparedInWords,
    failed: () => 'A refetch failed',
    unrecoverable: () => 'The service no longer has the missing results',
  },
  realtime: { stored: (line) => `A realtime session was stored: ${itemsOf(line)}` },
};

/** @type {Events} */
const ANY_ORIGIN = {
  released: (line) => `The quarantined body was decoded: ${itemsOf(line)}`,
  'release-failed': () => 'A quarantined body was not released; it is as it was before',
  dismissed: () => 'The quarantined body no longer waits',
  acknowledged: () => 'The job is no longer listed as failing',
  chosen: (line) => capital(itemsOf(line)),
  expired: ({ expired }) =>
    expired
      ? `${retentionClassInWords(expired.kind)} expired: ${count(expired.objects, 'object')}`
      : 'Objects expired',
  read: ({ items, reason }) =>
    reason === 'ticket'
      ? 'A ticket for downloads was issued'
      : `Content was read: ${listed(items.map(({ kind, key }) => (key.startsWith('quarantine/') ? 'quarantined body' : kindInWords(kind))))}`,
  'signed-in': () => 'Signed in to the admin port',
  'sign-in-failed': () => 'A sign-in to the admin port failed',
  'credential-checked': ({ source, reason }) =>
    `Explain checked a credential of ${source}: ${reason === null ? 'it is valid' : 'it is not valid'}`,
  failed: () => 'A repair failed',
  refused: (line) => `Rejected: ${reasonInWords(line.reason) ?? 'no reason was recorded'}`,
};

/** @param {LedgerLine} line */
function detailsOf(line) {
  const { origin, status } = line;
  const isReport = origin === 'callback' || (isUnsuccessful(line.status) && origin !== 'import');
  const isAct = actOf(line) !== null;
  const event = isAct && eventOf(line);
  return [
    isReport && status !== null && reportInWords(status),
    event && `${event}.`,
    line.tooLarge && tooLargeInWords(line.tooLarge, bytes),
    sentBy(line),
    ...(isAct ? [] : causeOf(line)),
    line.wouldRefuse &&
      `Accepted in report mode; enforcement would reject it: ${reasonInWords(line.wouldRefuse)}.`,
    line.contextOmitted && `Left out of the context: ${omittedInWords(line.contextOmitted)}.`,
  ];
}

/** @param {string} status */
function reportInWords(status) {
  if (status === TEST_STATUS) return 'transcript-receiver doctor sent it as a test.';
  return `The service reported ${callbackStatusInWords(status)}.`;
}

/** @param {LedgerLine} line */
function causeOf({ origin, outcome, reason, actor, clientIp }) {
  const isInTitle = origin === 'callback' && (outcome === 'quarantined' || outcome === 'refused');
  return [
    !isInTitle && reason && `${capital(reasonInWords(reason) ?? '')}.`,
    actor && `By ${actor}${origin === 'admin' && clientIp ? ` from ${clientIp}` : ''}.`,
  ];
}

/**
 * "7 accesses to content by anna and ben, the last at 14:02:11"
 * @param {readonly LedgerLine[]} lines oldest first @param {number} [now]
 */
export function accessesInWords(lines, now) {
  const actors = [...new Set(lines.flatMap(({ actor }) => actor ?? []))].sort();
  const by =
    actors.length === 0 ? '' : ` by ${actors.length > 4 ? count(actors.length, 'token') : listed(actors)}`;
  const last = lines.at(-1);
  const at = last ? `, the last at ${clock(last.receivedAt, now)}` : '';
  return `${count(lines.length, 'access', 'accesses')} to content${by}${at}`;
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
 * @param {Pick<LedgerLine, 'items' | 'outcome'>} line
 */
export function itemsOf({ items = [], outcome: result }) {
  const [first] = items;
  if (first === undefined) return 'nothing';
  // The second item of a choice is the version before.
  if (result === 'chosen')
    return `${kindInWords(first.kind)}, ${items.length > 1 ? 'another version counts' : 'the same version counts'}`;
  const names =
    items.length > 4 ? count(items.length, 'item') : listed(items.map(({ kind }) => kindInWords(kind)));
  const fresh = items.filter(({ outcome }) => outcome === 'created').length;
  if (fresh === items.length) return names;
  if (items.every(({ outcome }) => outcome === 'conflict')) return `${names}, with different bytes`;
  return fresh === 0 ? `${names}, nothing new` : `${names}, ${count(fresh)} of them new`;
}
