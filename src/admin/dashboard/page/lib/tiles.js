import { ago, bytes, count, milliseconds } from './format.js';
import { failingJobs } from './verdict.js';

/**
 * The facts behind the verdict, a tile each: `{id, title, tone, word, figure, details, action}`. `action` is
 * what to do about it; `details` are lines of text.
 */
export function tilesOf(health, now) {
  return [
    storeTile(health, now),
    receivingTile(health),
    quarantineTile(health),
    failuresTile(health),
    expectedTile(health),
    reconcileTile(health, now),
    credentialsTile(health, now),
    ledgerTile(health, now),
  ];
}

const help = (topic, text = 'What to do') => ({ href: `#/help/${topic}`, text });

function storeTile({ store }, now) {
  const checked = store.lastSuccessAt
    ? `Proven ${ago(store.lastSuccessAt, now)}`
    : 'Never proven since the start';
  return {
    id: 'store',
    title: 'Store',
    tone: store.writable ? 'good' : 'bad',
    word: store.writable ? 'Writable' : 'Not writable',
    figure: store.latencyMs === null ? '–' : milliseconds(store.latencyMs),
    details: [store.writable ? `${checked} by write and read` : (store.reason ?? checked), store.location],
    action: help('store'),
  };
}

function receivingTile({ ready, draining, activeDeliveries, budget }) {
  const share = budget.total > 0 ? Math.round((100 * budget.used) / budget.total) : 0;
  const waiting = budget.waiters > 0 ? `, ${count(budget.waiters)} waiting` : '';
  return {
    id: 'receiving',
    title: 'Receiving',
    tone: ready ? (budget.waiters > 0 ? 'notice' : 'good') : 'bad',
    word: draining ? 'Shutting down' : ready ? 'Ready' : 'Not ready',
    figure: count(activeDeliveries),
    details: ['deliveries under way', `${share} % of ${bytes(budget.total)} memory${waiting}`],
    action: help('receiving'),
  };
}

function quarantineTile({ quarantine }) {
  const waiting = quarantine?.waiting ?? null;
  return {
    id: 'quarantine',
    title: 'Quarantine',
    tone: waiting === null ? 'neutral' : waiting > 0 ? 'notice' : 'good',
    word: waiting === null ? 'Not known' : waiting > 0 ? 'Waiting' : 'Empty',
    figure: waiting === null ? '–' : count(waiting),
    details:
      quarantine === null
        ? ['The store could not be listed']
        : [`${bytes(quarantine.waitingBytes)} to decode`, `${count(quarantine.released)} released so far`],
    action: waiting > 0 ? { href: '#/failures', text: 'See why and release' } : help('quarantine'),
  };
}

function failuresTile({ last24h: { outcomes }, failing }) {
  const refused = outcomes.refused ?? 0;
  const jobs = failingJobs(failing);
  return {
    id: 'failures',
    title: 'Failing jobs',
    tone: jobs > 0 ? 'bad' : 'good',
    word: jobs > 0 ? 'To repair' : 'None',
    figure: count(jobs),
    details: [
      `${count(refused, 'authenticated refusal')} in 24 h`,
      `${count(outcomes.recovered ?? 0, 'recovery', 'recoveries')} in 24 h`,
    ],
    action: jobs > 0 ? { href: '#/failures', text: 'See why and repair' } : help('failures'),
  };
}

function expectedTile({ reconcile }) {
  const missing = reconcile?.missing ?? 0;
  return {
    id: 'expected',
    title: 'Expected and received',
    tone: reconcile === null ? 'neutral' : missing > 0 ? 'notice' : 'good',
    word: reconcile === null ? 'Never compared' : missing > 0 ? `${count(missing)} missing` : 'Complete',
    figure: reconcile === null ? '–' : `${count(reconcile.received)} of ${count(reconcile.expected)}`,
    details: reconcile === null ? ['Reconcile has not run yet'] : [reconciledJobs(reconcile)],
    action:
      missing > 0
        ? { href: '#/failures', text: 'See what is missing' }
        : help(reconcile === null ? 'reconcile' : 'expected'),
  };
}

function reconciledJobs({ outcomes }) {
  const told = ['recovered', 'conflict', 'pending'].filter((name) => outcomes[name] > 0);
  return told.length === 0
    ? 'Every job was already here'
    : told.map((name) => `${count(outcomes[name])} ${name}`).join(', ');
}

/** A run a day is the least that leaves room before the service's retention of 7 days. */
const OVERDUE = 26 * 3_600_000;

function reconcileTile({ reconcile }, now) {
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
      finished === null ? 'Lost callbacks are not noticed' : `${count(reconcile.expected, 'job')} looked at`,
    ],
    action: help('reconcile'),
  };
}

function credentialsTile({ credentials }, now) {
  const expired = credentials.filter(({ state }) => state === 'expired').length;
  const expiring = credentials.filter(({ state }) => state === 'expiring');
  const next = expiring.map(({ expires }) => expires).sort()[0];
  const details =
    credentials.length === 0
      ? ['Sources accept by address alone']
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
    action: help('credentials'),
  };
}

function useOf({ source, credential, lastUsedAt }, now) {
  return `${source}/${credential}: ${lastUsedAt ? `used ${ago(lastUsedAt, now)}` : 'not used lately'}`;
}

function ledgerTile({ ledger }, now) {
  const { state, error, broken, rows, refreshedAt } = ledger;
  const tone = error !== null ? 'bad' : broken.count > 0 || state === 'loading' ? 'notice' : 'good';
  const word =
    error !== null
      ? 'Not readable'
      : state === 'loading'
        ? 'Loading'
        : broken.count > 0
          ? 'Damaged lines'
          : 'Followed';
  return {
    id: 'ledger',
    title: 'Ledger',
    tone,
    word,
    figure: count(rows),
    details: [
      error ?? `lines at hand${refreshedAt ? `, read ${ago(refreshedAt, now)}` : ''}`,
      broken.count > 0 && `${count(broken.count, 'line')} cannot be read`,
    ].filter(Boolean),
    action: help('ledger'),
  };
}
