import { may } from '../../lib/api/session.js';
import { ago, bytes, clock, count, listed, milliseconds, span, total } from '../../lib/text/format.js';
import { hasAllUnsent } from '../../vendor/index/index-extent.js';
import { lastUseOf } from '../../vendor/issues/verdict-words.js';
import { expectedFacts, reconcileFacts, verifyFacts } from './recovery-facts.js';
import { inLastDay, isPartlyRead, toFailures } from './tile-parts.js';

/** @import { CredentialState, Health } from '../../lib/api/api-answers.js' */
/** @import { Facts } from './tile-parts.js' */

/**
 * The facts of each topic of the verdict, without a judgement: the issues of the topic say what is wrong.
 * @param {Health} health @param {number} now @returns {Facts[]}
 */
export function healthFacts(health, now) {
  // A token for only some sources does not see facts about all.
  const ofAll = health.scope === null;
  return [
    callbacksFacts(health, now),
    storeFacts(health, now),
    receivingFacts(health),
    ...(ofAll ? [quarantineFacts(health)] : []),
    failuresFacts(health),
    ...(ofAll ? [expectedFacts(health), reconcileFacts(health, now), verifyFacts(health, now)] : []),
    credentialsFacts(health, now),
    subscribersFacts(health, now),
    ledgerFacts(health, now),
  ];
}

/** @param {Health} health @param {number} now @returns {Facts} */
function callbacksFacts({ callbacks, verdict }, now) {
  const tile = { id: /** @type {const} */ ('callbacks'), title: 'Callbacks' };
  if (callbacks === null) return { ...tile, isNeutral: true, word: 'Unknown', figure: '–', details: [] };
  const { accepted, rejected, lastAcceptedAt, missed } = callbacks;
  const isQuiet = accepted === 0 && missed.missed === 0;
  return {
    ...tile,
    isNeutral: isQuiet,
    word: isQuiet ? 'None lately' : 'Accepted',
    figure: count(accepted),
    details: [
      'accepted in the last hour',
      ...(lastAcceptedAt === null ? [] : [`The last one ${ago(lastAcceptedAt, now)}`]),
      ...(rejected > 0 ? [`${count(rejected)} rejected`] : []),
      `${count(missed.missed)} of ${count(missed.jobs, 'job')} missed ${inLastDay(verdict)}`,
    ],
    ...(rejected > 0 && { action: { href: '#/refusals', text: 'Show what was rejected' } }),
  };
}

/** @param {Health} health @param {number} now @returns {Facts} */
function storeFacts({ store }, now) {
  return {
    id: 'store',
    title: 'Store',
    word: 'Writable',
    // The latency of a failed check means nothing.
    figure: store.writable && store.latencyMs !== null ? milliseconds(store.latencyMs) : '–',
    details: [
      store.lastSuccessAt
        ? `Written and read back ${ago(store.lastSuccessAt, now)}`
        : 'No check has succeeded since the start',
      store.location,
    ],
  };
}

/** @param {Health} health @returns {Facts} */
function receivingFacts({ ready, activeDeliveries, budget }) {
  return {
    id: 'receiving',
    title: 'Receiving',
    // Without an issue of its own the store is the reason, and its tile says so.
    isNeutral: !ready,
    word: ready ? 'Ready' : 'Not ready',
    figure: activeDeliveries === null ? '–' : count(activeDeliveries),
    details: budget === null ? [] : ['deliveries in flight', memoryInWords(budget)],
  };
}

/** @param {NonNullable<Health['budget']>} budget */
function memoryInWords({ total: all, used, waiters }) {
  const share = all > 0 ? Math.round((100 * used) / all) : 0;
  const waiting = waiters > 0 ? `, ${count(waiters)} waiting` : '';
  return `${share} % of ${bytes(all)} memory in use${waiting}`;
}

/** @param {Health} health @returns {Facts} */
function quarantineFacts({ quarantine, verdict }) {
  const tile = { id: /** @type {const} */ ('quarantine'), title: 'Quarantine' };
  if (quarantine === null) return { ...tile, isNeutral: true, word: 'Unknown', figure: '–', details: [] };
  const { waiting, waitingBytes, released, settled } = quarantine;
  const isUnknown = waiting === 0 && isPartlyRead(verdict);
  return {
    ...tile,
    isNeutral: isUnknown,
    word: isUnknown ? 'None found' : 'Empty',
    figure: isUnknown ? '–' : count(waiting),
    details: isUnknown
      ? ['Not every delivery was read']
      : [`${bytes(waitingBytes)} waiting`, `${count(released)} released, ${count(settled)} settled so far`],
    ...(waiting > 0 && { action: toFailures('Inspect and release') }),
  };
}

/** @param {Health} health @returns {Facts} */
function failuresFacts({ verdict, last24h, failing }) {
  const jobs = total(failing ?? {});
  const isUnknown = jobs === 0 && isPartlyRead(verdict);
  return {
    id: 'failures',
    title: 'Failing jobs',
    isNeutral: isUnknown,
    word: isUnknown ? 'None found' : 'None',
    figure: isUnknown ? '–' : count(jobs),
    details:
      last24h === null
        ? ['Refusals and recoveries in 24 h are unknown']
        : [
            `${count(last24h.outcomes.refused ?? 0, 'authenticated refusal')} ${inLastDay(verdict)}`,
            `${count(last24h.outcomes.recovered ?? 0, 'recovery', 'recoveries')} ${inLastDay(verdict)}`,
          ],
    ...(jobs > 0 && { action: toFailures('Inspect and repair') }),
  };
}

/** @param {Health} health @param {number} now @returns {Facts} */
function credentialsFacts({ credentials }, now) {
  const isNeutral = credentials.length === 0;
  return {
    id: 'credentials',
    title: 'Credentials',
    isNeutral,
    word: isNeutral ? 'None' : 'Valid',
    figure: count(credentials.length),
    details: isNeutral
      ? ['Sources check only the address']
      : credentials.slice(0, 3).map((one) => useOf(one, now)),
  };
}

/** @param {CredentialState} credential @param {number} now */
function useOf({ source, credential, state, lastUsedAt }, now) {
  const name = `${source}/${credential}`;
  return state === 'unknown' ? `${name}: use unknown` : lastUseOf(name, lastUsedAt, (time) => ago(time, now));
}

/** @param {Health} health @param {number} now @returns {Facts} */
function subscribersFacts({ subscribers, verdict }, now) {
  const tile = { id: /** @type {const} */ ('subscribers'), title: 'Subscribers' };
  const list = subscribers ?? [];
  if (list.length === 0) {
    const details = ['Nobody is sent events'];
    return { ...tile, isNeutral: true, word: 'None', figure: count(0), details };
  }
  const dead = list.reduce((sum, one) => sum + one.dead, 0);
  const lag = Math.max(...list.map(({ lagSeconds }) => lagSeconds));
  const failing = list.filter(({ breaker }) => breaker === 'open').map(({ name }) => name);
  const waiting = list.reduce((sum, { retrying, untried }) => sum + retrying + untried, 0);
  const isUnknown = waiting === 0 && !hasAllUnsent(verdict.index, now);
  let word = isUnknown ? 'Unknown' : 'Up to date';
  let backlog = isUnknown ? 'Whether an event waits is unknown' : 'No event waits';
  if (waiting > 0) {
    word = 'Sending';
    backlog = `${count(waiting, 'event')} ${waiting === 1 ? 'waits' : 'wait'}, the oldest for ${span(lag * 1000)}`;
  }
  if (failing.length > 0) word = 'Paused';
  return {
    ...tile,
    isNeutral: waiting > 0 || failing.length > 0 || isUnknown,
    word,
    figure: count(dead > 0 ? dead : list.length),
    details: failing.length > 0 ? [backlog, `Paused: ${listed(failing)}`] : [backlog],
    action: { href: '#/subscribers', text: dead > 0 && may('repair') ? 'Inspect and send again' : 'Show' },
  };
}

/** @param {Health} health @param {number} now @returns {Facts} */
function ledgerFacts({ ledger, verdict }, now) {
  const { rows, refreshedAt, place } = ledger;
  const { since } = verdict.index;
  const back = since === null ? '' : ` back to ${clock(since, now)}`;
  const loaded = rows === 1 ? 'line loaded' : 'lines loaded';
  const updated = refreshedAt === null ? '' : `, updated ${ago(refreshedAt, now)}`;
  return {
    id: 'ledger',
    title: 'Ledger',
    isNeutral: isPartlyRead(verdict),
    word: isPartlyRead(verdict) ? 'Partly read' : 'Up to date',
    figure: rows === null ? '–' : count(rows),
    details: [
      `${rows === null ? 'read' : loaded}${back}${updated}`,
      ...(place?.path === null ? ['in memory: small, and built again at each start'] : []),
    ],
  };
}
