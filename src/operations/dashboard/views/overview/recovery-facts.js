import { canRefetch } from '../../lib/api/session.js';
import { to } from '../../lib/screen/route.js';
import { ago, count, span } from '../../lib/text/format.js';
import { inLastDay, toFailures } from './tile-parts.js';

/** @import { Health, ReconcileFigures, VerifyFigures } from '../../lib/api/api-answers.js' */
/** @import { Action, Facts } from './tile-parts.js' */

/** What reconcile and verify found. */

/** @param {Health} health @returns {Facts} */
export function expectedFacts({ reconcile, callbacks, verdict }) {
  const tile = { id: /** @type {const} */ ('expected'), title: 'Expected and received' };
  if (reconcile === null) {
    const details = ['Reconcile has not run yet'];
    return { ...tile, isNeutral: true, word: 'Never compared', figure: '–', details };
  }
  const { received, expected, missing } = reconcile;
  const isUnknown = verdict.issues.some(({ code }) => code === 'expected-unknown');
  return {
    ...tile,
    // Missing jobs are failing jobs: the tile of Failures warns.
    isNeutral: missing > 0,
    word: missing > 0 ? `${count(missing)} missing` : 'Complete',
    figure: isUnknown ? '–' : `${count(received)} of ${count(expected)}`,
    details: [
      ...(isUnknown ? seenInWords(reconcile) : expectedInWords(reconcile)),
      ...fetchedInWords(callbacks, verdict),
    ],
    ...(missing > 0 && { action: toFailures('Show missing jobs') }),
  };
}

/** The jobs that the run saw: it was incomplete, or a later one was. @param {ReconcileFigures} reconcile */
function seenInWords({ received, expected }) {
  return expected === 0
    ? ['No job was seen']
    : [`Of the ${count(expected, 'job')} seen, ${count(received)} received`];
}

/** The jobs that all runs fetched, not only the last one. @param {Health['callbacks']} callbacks @param {Health['verdict']} verdict */
function fetchedInWords(callbacks, verdict) {
  const missed = callbacks?.missed.missed ?? 0;
  return missed === 0 ? [] : [`${count(missed)} needed reconcile ${inLastDay(verdict)}`];
}

/**
 * A sum that equals the number of expected jobs, and details. `missing` can exceed what the last full run found: later
 * partial runs add to it.
 * @param {ReconcileFigures} reconcile
 */
function expectedInWords({ expected, received, missing, ignored, outcomes }) {
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
    of('conflict') > 0 && `${count(of('conflict'))} of these are in conflict`,
    of('expired') > 0 && `${count(of('expired'))} more expired`,
    ignored > 0 && `${count(ignored)} more not ours: no callback URL leads to a source here`,
    missing > lacking && `A later run found ${count(missing)} missing`,
  ].filter((text) => typeof text === 'string');
}

/** @param {Health} health @param {number} now @returns {Facts} */
export function reconcileFacts({ reconcile }, now) {
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
    ...(canRefetch() && { action: { href: '#/reconcile', text: 'Reconcile now' } }),
  };
}

/** @param {Health} health @param {number} now @returns {Facts} */
export function verifyFacts({ verify }, now) {
  const tile = { id: /** @type {const} */ ('verify'), title: 'Last verify' };
  if (verify === null) {
    const details = ['Store and ledger were not compared yet'];
    return { ...tile, isNeutral: true, word: 'Never', figure: '–', details };
  }
  return {
    ...tile,
    word: 'Intact',
    figure: ago(verify.finishedAt, now),
    details: verifyInWords(verify),
    ...(verify.refetch.length > 0 && canRefetch() && { action: refetchOf(verify) }),
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
