import { ago, count } from './format.js';

/**
 * Is all well? One sentence out of the facts of `GET health`, the worst first: `{tone, word, sentence, more}`;
 * `more` are the further troubles. `failing` are the jobs whose last word is a failure.
 */
export function verdict(health, now, failing = []) {
  const troubles = troublesOf(health, failing, now);
  if (troubles.length === 0) return well(health, now);
  const [first, ...more] = troubles;
  return {
    tone: first.tone,
    word: first.tone === 'bad' ? 'Act now' : 'Look at this',
    sentence: first.text,
    more,
  };
}

function well({ last24h }, now) {
  if (last24h.lines === 0) {
    return {
      tone: 'good',
      word: 'All is well',
      sentence: 'Ready to receive. Nothing arrived in the last 24 hours.',
      more: [],
    };
  }
  const sentence = `${count(last24h.lines, 'delivery', 'deliveries')} in the last 24 hours, everything stored and accounted for.`;
  return { tone: 'good', word: 'All is well', sentence, more: [], now };
}

/** In order of urgency: nothing can be received, something is being lost, something will go wrong. */
export function troublesOf(health, failing, now) {
  const { store, ready, draining, reconcile, quarantine, ledger, credentials, budget } = health;
  const expired = credentials.filter(({ state }) => state === 'expired');
  const expiring = credentials.filter(({ state }) => state === 'expiring');
  const missing = reconcile?.missing ?? 0;
  return [
    bad(
      !store.writable,
      `The store cannot be written: ${store.reason ?? 'no reason known'}. Senders are told to try again.`,
    ),
    notice(draining, 'This replica is shutting down; another one takes over.'),
    bad(
      !ready && store.writable && !draining,
      `Not ready to receive: ${health.readyReason ?? health.problems[0] ?? 'no reason known'}.`,
    ),
    bad(
      ledger.error !== null,
      `The ledger cannot be followed: ${ledger.error}. What is shown here may be old.`,
    ),
    bad(
      failing.length > 0,
      `${failing.length === 1 ? '1 job is' : `${count(failing.length)} jobs are`} failing: ${wordsFor(failing)}.`,
    ),
    notice(
      failing.length === 0 && missing > 0,
      `The last reconcile missed ${count(missing, 'job')}; nothing is failing since. Run it again to be sure.`,
    ),
    bad(expired.length > 0, `The credential ${nameOf(expired[0])} has expired.`),
    notice(
      quarantine !== null && quarantine.waiting > 0,
      `${count(quarantine?.waiting ?? 0, 'body', 'bodies')} that could not be decoded ${quarantine?.waiting === 1 ? 'waits' : 'wait'} in quarantine.`,
    ),
    notice(
      expiring.length > 0,
      `The credential ${nameOf(expiring[0])} expires ${expiring[0] && ago(expiring[0].expires, now)}.`,
    ),
    notice(budget.waiters > 0, `${count(budget.waiters, 'delivery waits', 'deliveries wait')} for memory.`),
    notice(ledger.broken.count > 0, `${count(ledger.broken.count, 'line')} of the ledger cannot be read.`),
    notice(ledger.state === 'loading', 'The ledger is still being read; figures are not complete yet.'),
  ].filter(Boolean);
}

/** "3 not fetched, 1 refused" */
function wordsFor(failing) {
  const counts = new Map();
  for (const { outcome } of failing) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts]
    .map(
      ([outcome, number]) =>
        `${count(number)} ${Object.hasOwn(FAILING, outcome) ? FAILING[outcome] : outcome}`,
    )
    .join(', ');
}

const FAILING = { failed: 'not fetched', unrecoverable: 'lost at the service', conflict: 'in conflict' };

function bad(applies, text) {
  return applies ? { tone: 'bad', text } : null;
}

function notice(applies, text) {
  return applies ? { tone: 'notice', text } : null;
}

function nameOf(credential) {
  return credential === undefined ? '' : `${credential.source}/${credential.credential}`;
}
