import { may } from '../../lib/api/session.js';
import { to } from '../../lib/screen/route.js';
import { ago, bytes, count, listed, milliseconds, span, total } from '../../lib/text/format.js';

/** @import { CredentialState, Health, ReconcileFigures, Topic, VerifyFigures } from '../../lib/api/api-answers.js' */

/**
 * @typedef {{href: string, text: string}} Action link of a tile
 *
 * @typedef {object} Facts what is known of a topic, as it is shown without issues
 * @property {Topic} id
 * @property {string} title
 * @property {string} word
 * @property {string} figure
 * @property {string[]} details
 * @property {boolean} [isNeutral] neither good nor bad: there is nothing yet
 * @property {Action} [action] where the facts lead; help by default
 */

/**
 * The facts of each topic of the verdict. They judge nothing: the issues of the topic say what is wrong.
 * @param {Health} health @param {number} now @returns {Facts[]}
 */
export function healthFacts(health, now) {
  return [
    storeFacts(health, now),
    receivingFacts(health),
    quarantineFacts(health),
    failuresFacts(health),
    expectedFacts(health),
    reconcileFacts(health, now),
    verifyFacts(health, now),
    credentialsFacts(health, now),
    subscribersFacts(health),
    ledgerFacts(health, now),
  ];
}

/** Without a figure: it covers all sources. @param {Topic} id @param {string} title @returns {Facts} */
function notShown(id, title) {
  return { id, title, isNeutral: true, word: 'Not shown', figure: '–', details: [OF_ALL_SOURCES] };
}
export const OF_ALL_SOURCES = 'The figure covers all sources, and this token may see some only';

/** @param {Health} health @param {number} now @returns {Facts} */
function storeFacts({ store }, now) {
  return {
    id: 'store',
    title: 'Store',
    word: 'Writable',
    figure: store.latencyMs === null ? '–' : milliseconds(store.latencyMs),
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
    details: budget === null ? [OF_ALL_SOURCES] : ['deliveries in flight', memoryInWords(budget)],
  };
}

/** @param {NonNullable<Health['budget']>} budget */
function memoryInWords({ total: all, used, waiters }) {
  const share = all > 0 ? Math.round((100 * used) / all) : 0;
  const waiting = waiters > 0 ? `, ${count(waiters)} waiting` : '';
  return `${share} % of ${bytes(all)} memory in use${waiting}`;
}

/** @param {Health} health @returns {Facts} */
function quarantineFacts({ quarantine }) {
  if (quarantine === null) return notShown('quarantine', 'Quarantine');
  const { waiting, waitingBytes, released, settled } = quarantine;
  return {
    id: 'quarantine',
    title: 'Quarantine',
    word: 'Empty',
    figure: count(waiting),
    details: [
      `${bytes(waitingBytes)} waiting`,
      `${count(released)} released, ${count(settled)} settled so far`,
    ],
    ...(waiting > 0 && { action: toFailures('Inspect and release') }),
  };
}

/** @param {string} repairing what somebody does there who may @returns {Action} */
function toFailures(repairing) {
  return { href: '#/failures', text: may('repair') ? repairing : 'Show' };
}

/** @param {Health} health @returns {Facts} */
function failuresFacts({ last24h, failing }) {
  const jobs = total(failing ?? {});
  return {
    id: 'failures',
    title: 'Failing jobs',
    word: 'None',
    figure: count(jobs),
    details:
      last24h === null
        ? ['At least: the ledger cannot be read']
        : [
            `${count(last24h.outcomes.refused ?? 0, 'authenticated refusal')} in 24 h`,
            `${count(last24h.outcomes.recovered ?? 0, 'recovery', 'recoveries')} in 24 h`,
          ],
    ...(jobs > 0 && { action: toFailures('Inspect and repair') }),
  };
}

/** @param {Health} health @returns {Facts} */
function expectedFacts({ reconcile, scope }) {
  const tile = { id: /** @type {const} */ ('expected'), title: 'Expected and received' };
  if (scope !== null) return notShown(tile.id, tile.title);
  if (reconcile === null) {
    const details = ['Reconcile has not run yet'];
    return { ...tile, isNeutral: true, word: 'Never compared', figure: '–', details };
  }
  const { received, expected, missing } = reconcile;
  return {
    ...tile,
    // The jobs that are missing fail: Failures has them.
    isNeutral: missing > 0,
    word: missing > 0 ? `${count(missing)} missing` : 'Complete',
    figure: `${count(received)} of ${count(expected)}`,
    details: expectedInWords(reconcile),
    ...(missing > 0 && { action: toFailures('Show missing jobs') }),
  };
}

/**
 * A sum that equals the number of expected jobs, and details. `missing` can exceed what the last full run found: later
 * partial runs add to it.
 * @param {ReconcileFigures} reconcile
 */
function expectedInWords({ expected, received, missing, outcomes }) {
  /** @param {...string} names */
  const of = (...names) => names.reduce((sum, name) => sum + (outcomes[name] ?? 0), 0);
  const lacking = of('unrecoverable', 'failed');
  const pending = expected - received - lacking;
  const parts = [
    `${count(received)} received`,
    lacking > 0 && `${count(lacking)} missing`,
    pending > 0 && `${count(pending)} pending`,
  ].filter((text) => typeof text === 'string');
  return [
    parts.length === 1 ? 'Every expected job was received' : `${parts.join(' + ')} = ${count(expected)}`,
    of('recovered') > 0 && `${count(of('recovered'))} of these were fetched by reconcile`,
    of('conflict') > 0 && `${count(of('conflict'))} of these are in conflict`,
    of('ended') > 0 && `${count(of('ended'))} more ended by retention`,
    missing > lacking && `A later run found ${count(missing)} missing`,
  ].filter((text) => typeof text === 'string');
}

/** @param {Health} health @param {number} now @returns {Facts} */
function reconcileFacts({ reconcile, scope }, now) {
  if (scope !== null) return notShown('reconcile', 'Last reconcile');
  const finished = reconcile?.finishedAt ?? null;
  return {
    id: 'reconcile',
    title: 'Last reconcile',
    isNeutral: finished === null,
    word: finished === null ? 'Never' : 'Recent',
    figure: finished === null ? '–' : ago(finished, now),
    details:
      finished === null
        ? ['Lost callbacks are not detected']
        : [`${count(reconcile?.expected ?? 0, 'job')} checked`],
  };
}

/** @param {Health} health @param {number} now @returns {Facts} */
function verifyFacts({ verify, scope }, now) {
  const tile = { id: /** @type {const} */ ('verify'), title: 'Last verify' };
  if (scope !== null) return notShown(tile.id, tile.title);
  if (verify === null) {
    const details = ['Store and ledger were not compared yet'];
    return { ...tile, isNeutral: true, word: 'Never', figure: '–', details };
  }
  return {
    ...tile,
    word: 'Intact',
    figure: ago(verify.finishedAt, now),
    details: verifyInWords(verify),
    ...(verify.refetch.length > 0 && may('repair') && { action: refetchOf(verify) }),
  };
}

/** @param {VerifyFigures} verify */
function verifyInWords({ checked, deep, window, missing, damaged }) {
  const days = span(Date.parse(window.until) - Date.parse(window.since));
  return [
    `${count(checked, 'artefact')} of ${days} checked${deep ? ' byte for byte' : ''}`,
    missing > 0 && `${count(missing)} missing`,
    damaged > 0 && `${count(damaged)} damaged`,
  ].filter((text) => typeof text === 'string');
}

/** @param {VerifyFigures} verify @returns {Action} */
function refetchOf({ refetch }) {
  return {
    href: to('replays', { kind: 'refetch', jobs: refetch.join(' ') }),
    text: 'Refetch what is missing',
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
  const none = state === 'unknown' ? 'use unknown' : 'no recent use';
  return `${source}/${credential}: ${lastUsedAt ? `used ${ago(lastUsedAt, now)}` : none}`;
}

/** @param {Pick<Health, 'subscribers'>} health @returns {Facts} */
function subscribersFacts({ subscribers }) {
  const tile = { id: /** @type {const} */ ('subscribers'), title: 'Subscribers' };
  const list = subscribers ?? [];
  if (list.length === 0) {
    const details = ['Nobody is sent events'];
    return { ...tile, isNeutral: true, word: 'None', figure: count(0), details };
  }
  const dead = list.reduce((sum, one) => sum + one.dead, 0);
  const lag = Math.max(...list.map(({ lagSeconds }) => lagSeconds));
  const failing = list.filter(({ breaker }) => breaker === 'open').map(({ name }) => name);
  return {
    ...tile,
    word: lag === 0 ? 'Up to date' : 'Sending',
    figure: count(list.length),
    details: [
      lag === 0 ? 'Every event was sent' : `The oldest event waits for ${span(lag * 1000)}`,
      ...(failing.length > 0 ? [`Not reachable: ${listed(failing)}`] : []),
      ...(dead > 0 ? [`${count(dead, 'event')} could not be sent`] : []),
    ],
    action: { href: '#/subscribers', text: dead > 0 && may('repair') ? 'Inspect and send again' : 'Show' },
  };
}

/** @param {Health} health @param {number} now @returns {Facts} */
function ledgerFacts({ ledger }, now) {
  const { rows, refreshedAt, error } = ledger;
  const read = refreshedAt === null ? '' : `, updated ${ago(refreshedAt, now)}`;
  return {
    id: 'ledger',
    title: 'Ledger',
    word: 'Up to date',
    figure: rows === null ? '–' : count(rows),
    details: [`${rows === null ? 'read' : 'lines loaded'}${read}`, ...(error === null ? [] : [error])],
  };
}
