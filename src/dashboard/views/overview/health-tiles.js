import { may } from '../../lib/api/session.js';
import { to } from '../../lib/screen/route.js';
import { ago, bytes, count, milliseconds, span, total } from '../../lib/text/format.js';
import { whyUnknown } from '../../lib/text/why-unknown.js';
import { subscribersTile } from './subscribers-tile.js';

/** @import { CredentialNotice, Health, ReconcileFigures, Unknowable, VerifyFigures } from '../../lib/api/api-answers.js' */
/** @import { Tone } from '../../lib/elements/status.js' */

/**
 * @typedef {{href: string, text: string}} Action link of a tile
 * @typedef {object} Tile
 * @property {string} id
 * @property {string} title
 * @property {Tone} tone
 * @property {string} word
 * @property {string} figure
 * @property {string[]} details lines of text
 * @property {Action} [action]
 */

/**
 * One tile per fact behind the verdict.
 * @param {Health} health @param {number} now @returns {(Tile & {action: Action})[]}
 */
export function healthTiles(health, now) {
  const tiles = [
    storeTile(health, now),
    receivingTile(health),
    quarantineTile(health),
    failuresTile(health),
    expectedTile(health),
    reconcileTile(health, now),
    verifyTile(health, now),
    credentialsTile(health, now),
    subscribersTile(health),
    ledgerTile(health, now),
  ].filter((tile) => tile !== null);
  return tiles
    .map((tile) => unknownOr(tile, health, now))
    .map((tile) => ({ action: help(tile.id, tile.tone), ...tile }));
}

/** The member of the summary that each tile shows. @type {Record<string, Unknowable>} */
const FACTS = {
  quarantine: 'quarantine',
  failures: 'failing',
  expected: 'reconcile',
  reconcile: 'reconcile',
  verify: 'verify',
  subscribers: 'subscribers',
};

/**
 * What could not be read is neither good nor bad.
 * @param {Tile} tile @param {Pick<Health, 'unknown'>} health @param {number} now @returns {Tile}
 */
function unknownOr(tile, { unknown }, now) {
  const fact = FACTS[tile.id];
  const why = fact === undefined ? undefined : unknown[fact];
  if (why === undefined) return tile;
  const { id, title } = tile;
  return { id, title, tone: 'neutral', word: 'Unknown', figure: '–', details: whyUnknown(why, now) };
}

/**
 * Link to the help on a topic: what to do if something is wrong, otherwise an explanation.
 * @param {string} topic @param {Tone} tone @returns {Action}
 */
function help(topic, tone) {
  const text = tone === 'bad' || tone === 'notice' ? 'What to do' : 'What this means';
  return { href: `#/help/${topic}`, text };
}

/** @param {Health} health @param {number} now @returns {Tile} */
function storeTile({ store }, now) {
  const checked = store.lastSuccessAt
    ? `Checked ${ago(store.lastSuccessAt, now)}`
    : 'No check has succeeded since the start';
  return {
    id: 'store',
    title: 'Store',
    tone: store.writable ? 'good' : 'bad',
    word: store.writable ? 'Writable' : 'Not writable',
    figure: store.latencyMs === null ? '–' : milliseconds(store.latencyMs),
    details: [
      store.writable ? `${checked} by writing and reading an object` : (store.reason ?? checked),
      store.location,
    ],
  };
}

/** @param {Health} health @returns {Tile} */
function receivingTile({ ready, draining, activeDeliveries, budget }) {
  return {
    id: 'receiving',
    title: 'Receiving',
    tone: ready ? (budget !== null && budget.waiters > 0 ? 'notice' : 'good') : 'bad',
    word: draining ? 'Shutting down' : ready ? 'Ready' : 'Not ready',
    figure: activeDeliveries === null ? '–' : count(activeDeliveries),
    details: budget === null ? [OF_ALL_SOURCES] : ['deliveries in flight', memoryInWords(budget)],
  };
}

const NOT_SHOWN = 'Not shown';
export const OF_ALL_SOURCES = 'The figure covers all sources, and this token may see some only';

/** @param {NonNullable<Health['budget']>} budget */
function memoryInWords({ total: all, used, waiters }) {
  const share = all > 0 ? Math.round((100 * used) / all) : 0;
  const waiting = waiters > 0 ? `, ${count(waiters)} waiting` : '';
  return `${share} % of ${bytes(all)} memory in use${waiting}`;
}

/** @param {Health} health @returns {Tile} */
function quarantineTile({ quarantine }) {
  const waiting = quarantine?.waiting ?? null;
  return {
    id: 'quarantine',
    title: 'Quarantine',
    tone: waiting === null ? 'neutral' : waiting > 0 ? 'notice' : 'good',
    word: waiting === null ? NOT_SHOWN : waiting > 0 ? 'Waiting' : 'Empty',
    figure: waiting === null ? '–' : count(waiting),
    details:
      quarantine === null
        ? [OF_ALL_SOURCES]
        : [
            `${bytes(quarantine.waitingBytes)} waiting`,
            `${count(quarantine.released)} released, ${count(quarantine.settled)} settled so far`,
          ],
    ...(waiting !== null &&
      waiting > 0 && {
        action: { href: '#/failures', text: may('repair') ? 'Inspect and release' : 'Show' },
      }),
  };
}

/** @param {Health} health @returns {Tile} */
function failuresTile({ last24h, failing }) {
  const jobs = total(failing ?? {});
  return {
    id: 'failures',
    title: 'Failing jobs',
    tone: jobs > 0 ? 'bad' : 'good',
    word: jobs > 0 ? 'To repair' : 'None',
    figure: count(jobs),
    details:
      last24h === null
        ? ['At least: the ledger cannot be read']
        : [
            `${count(last24h.outcomes.refused ?? 0, 'authenticated refusal')} in 24 h`,
            `${count(last24h.outcomes.recovered ?? 0, 'recovery', 'recoveries')} in 24 h`,
          ],
    ...(jobs > 0 && { action: { href: '#/failures', text: may('repair') ? 'Inspect and repair' : 'Show' } }),
  };
}

/** @param {Health} health @returns {Tile} */
function expectedTile({ reconcile, scope }) {
  if (scope !== null) return notShown('expected', 'Expected and received');
  const missing = reconcile?.missing ?? 0;
  return {
    id: 'expected',
    title: 'Expected and received',
    tone: reconcile === null ? 'neutral' : missing > 0 ? 'notice' : 'good',
    word: reconcile === null ? 'Never compared' : missing > 0 ? `${count(missing)} missing` : 'Complete',
    figure: reconcile === null ? '–' : `${count(reconcile.received)} of ${count(reconcile.expected)}`,
    details: reconcile === null ? ['Reconcile has not run yet'] : expectedInWords(reconcile),
    ...(missing > 0 && { action: { href: '#/failures', text: 'Show missing jobs' } }),
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

/** With one run a day there is time to repair before the service's retention of 7 days ends. */
const OVERDUE = 26 * 3_600_000;

/** @param {Health} health @param {number} now @returns {Tile} */
function reconcileTile({ reconcile, scope }, now) {
  if (scope !== null) return notShown('reconcile', 'Last reconcile');
  const finished = reconcile?.finishedAt ?? null;
  const overdue = finished !== null && now - Date.parse(finished) > OVERDUE;
  const incomplete = (reconcile?.faults ?? []).length > 0;
  return {
    id: 'reconcile',
    title: 'Last reconcile',
    tone: finished === null ? 'neutral' : incomplete || overdue ? 'notice' : 'good',
    word: finished === null ? 'Never' : incomplete ? 'Incomplete' : overdue ? 'Overdue' : 'Recent',
    figure: finished === null ? '–' : ago(finished, now),
    details: [
      finished === null
        ? 'Lost callbacks are not detected'
        : `${count(reconcile?.expected ?? 0, 'job')} checked`,
    ],
  };
}

/** @param {Health} health @param {number} now @returns {Tile} */
function verifyTile({ verify, scope }, now) {
  if (scope !== null) return notShown('verify', 'Last verify');
  const wrong = (verify?.missing ?? 0) + (verify?.damaged ?? 0);
  const incomplete = verify !== null && (!verify.complete || verify.faults.length > 0);
  return {
    id: 'verify',
    title: 'Last verify',
    tone: verify === null ? 'neutral' : wrong > 0 ? 'bad' : incomplete ? 'notice' : 'good',
    word:
      verify === null
        ? 'Never'
        : wrong > 0
          ? `${count(wrong)} not intact`
          : incomplete
            ? 'Incomplete'
            : 'Intact',
    figure: verify === null ? '–' : ago(verify.finishedAt, now),
    details: verify === null ? ['Store and ledger were not compared yet'] : verifyInWords(verify),
    ...(verify !== null && verify.refetch.length > 0 && may('repair') && { action: refetchOf(verify) }),
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

/** @param {string} id @param {string} title @returns {Tile} */
function notShown(id, title) {
  return { id, title, tone: 'neutral', word: NOT_SHOWN, figure: '–', details: [OF_ALL_SOURCES] };
}

/** @param {Health} health @param {number} now @returns {Tile} */
function credentialsTile({ credentials }, now) {
  const expired = credentials.filter(({ state }) => state === 'expired').length;
  const expiring = credentials.filter(({ state }) => state === 'expiring');
  const next = expiring.map(({ expires }) => expires).sort()[0];
  const details =
    credentials.length === 0
      ? ['Sources check only the address']
      : credentials.slice(0, 3).map((one) => useOf(one, now));
  return {
    id: 'credentials',
    title: 'Credentials',
    tone:
      expired > 0 ? 'bad' : expiring.length > 0 ? 'notice' : credentials.length === 0 ? 'neutral' : 'good',
    word:
      expired > 0
        ? `${count(expired)} expired`
        : next
          ? `Expires ${ago(next, now)}`
          : credentials.length === 0
            ? 'None'
            : 'Valid',
    figure: count(credentials.length),
    details,
  };
}

/** @param {CredentialNotice} notice @param {number} now */
function useOf({ source, credential, state, lastUsedAt }, now) {
  const none = state === 'unknown' ? 'use unknown' : 'no recent use';
  return `${source}/${credential}: ${lastUsedAt ? `used ${ago(lastUsedAt, now)}` : none}`;
}

/** @param {Health} health @param {number} now @returns {Tile} */
function ledgerTile({ ledger }, now) {
  const { state, error, rows, refreshedAt } = ledger;
  const broken = ledger.broken?.count ?? 0;
  const newer = ledger.newer?.count ?? 0;
  const skipped = broken + newer;
  const tone = error !== null ? 'bad' : skipped > 0 || state === 'loading' ? 'notice' : 'good';
  const word =
    error !== null
      ? 'Not readable'
      : state === 'loading'
        ? 'Loading'
        : broken > 0
          ? 'Damaged lines'
          : newer > 0
            ? 'Newer lines'
            : 'Up to date';
  return {
    id: 'ledger',
    title: 'Ledger',
    tone,
    word,
    figure: rows === null ? '–' : count(rows),
    details: [
      error ??
        `${rows === null ? 'read' : 'lines loaded'}${refreshedAt ? `, updated ${ago(refreshedAt, now)}` : ''}`,
      broken > 0 && `${count(broken, 'line')} cannot be read`,
      newer > 0 && `${count(newer, 'line')} written by a newer version: upgrade this replica`,
    ].filter((text) => typeof text === 'string'),
  };
}
