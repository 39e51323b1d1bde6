import { ago, count } from './format.js';

/**
 * Is all well? One sentence out of the facts of `GET health`, the worst first: `{tone, word, sentence, href, more}`;
 * `href` leads to
 * what to do, `more` are the further troubles. `failing` counts the jobs whose last word is a failure, by outcome.
 */
export function verdict(health, now, failing = {}) {
  const troubles = troublesOf(health, failing, now);
  if (troubles.length === 0) return well(health);
  const [first, ...more] = troubles;
  return {
    tone: first.tone,
    word: first.tone === 'bad' ? 'Act now' : 'Look at this',
    sentence: first.text,
    href: first.href,
    more,
  };
}

function well({ last24h }) {
  if (last24h.lines === 0) {
    return {
      tone: 'good',
      word: 'All is well',
      sentence: 'Ready to receive. Nothing arrived in the last 24 hours.',
      more: [],
    };
  }
  const sentence = `${count(last24h.lines, 'delivery', 'deliveries')} in the last 24 hours, everything stored and accounted for.`;
  return { tone: 'good', word: 'All is well', sentence, more: [] };
}

/** In order of urgency: nothing can be received, something is being lost, something will go wrong. */
export function troublesOf(health, failing, now) {
  const { store, ready, draining, reconcile, quarantine, ledger, credentials, budget } = health;
  const expired = credentials.filter(({ state }) => state === 'expired');
  const expiring = credentials.filter(({ state }) => state === 'expiring');
  const missing = reconcile?.missing ?? 0;
  const [blindness] = reconcile?.faults ?? [];
  const jobs = failingJobs(failing);
  return [
    bad(
      !store.writable,
      `The store cannot be written: ${store.reason ?? 'no reason known'}. Senders are told to try again.`,
      '#/help/store',
    ),
    notice(draining, 'This replica is shutting down; another one takes over.', '#/help/receiving'),
    bad(
      !ready && store.writable && !draining,
      `Not ready to receive: ${health.readyReason ?? health.problems[0] ?? 'no reason known'}.`,
      '#/help/receiving',
    ),
    bad(
      ledger.error !== null,
      `The ledger cannot be followed: ${ledger.error}. What is shown here may be old.`,
      '#/help/ledger',
    ),
    bad(
      jobs > 0,
      `${jobs === 1 ? '1 job is' : `${count(jobs)} jobs are`} failing: ${wordsFor(failing)}.`,
      '#/failures',
    ),
    notice(
      jobs === 0 && missing > 0,
      `The last reconcile missed ${count(missing, 'job')}; nothing is failing since. Run it again to be sure.`,
      '#/help/expected',
    ),
    notice(
      blindness !== undefined,
      `The last reconcile did not see everything: ${blindness}. What it could not see may be missing.`,
      '#/help/reconcile',
    ),
    bad(expired.length > 0, `The credential ${nameOf(expired[0])} has expired.`, '#/help/credentials'),
    notice(
      quarantine !== null && quarantine.waiting > 0,
      `${count(quarantine?.waiting ?? 0, 'body', 'bodies')} that could not be decoded ${quarantine?.waiting === 1 ? 'waits' : 'wait'} in quarantine.`,
      '#/failures',
    ),
    notice(
      expiring.length > 0,
      `The credential ${nameOf(expiring[0])} expires ${expiring[0] && ago(expiring[0].expires, now)}.`,
      '#/help/credentials',
    ),
    notice(
      budget.waiters > 0,
      `${count(budget.waiters, 'delivery waits', 'deliveries wait')} for memory.`,
      '#/help/receiving',
    ),
    notice(
      ledger.broken.count > 0,
      `${count(ledger.broken.count, 'line')} of the ledger cannot be read.`,
      '#/help/ledger',
    ),
    notice(
      ledger.state === 'loading',
      'The ledger is still being read; figures are not complete yet.',
      '#/help/ledger',
    ),
  ].filter(Boolean);
}

export function failingJobs(failing) {
  return Object.values(failing).reduce((sum, number) => sum + number, 0);
}

/** "3 not fetched, 1 refused" */
function wordsFor(failing) {
  return Object.entries(failing)
    .map(
      ([outcome, number]) =>
        `${count(number)} ${Object.hasOwn(FAILING, outcome) ? FAILING[outcome] : outcome}`,
    )
    .join(', ');
}

const FAILING = { failed: 'not fetched', unrecoverable: 'lost at the service', conflict: 'in conflict' };

function bad(applies, text, href) {
  return applies ? { tone: 'bad', text, href } : null;
}

function notice(applies, text, href) {
  return applies ? { tone: 'notice', text, href } : null;
}

function nameOf(credential) {
  return credential === undefined ? '' : `${credential.source}/${credential.credential}`;
}
