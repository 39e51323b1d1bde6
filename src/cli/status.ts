import { Command } from 'commander';
import type { Verdict } from '../admin/api/answers/health.js';
import { credentialNotices } from '../admin/health/credential-notices.js';
import { verdictOf } from '../admin/health/health-verdict.js';
import { createKnownFacts } from '../admin/health/known-facts.js';
import { retentionEnding } from '../admin/health/read-health.js';
import { createReconcileReportReader } from '../admin/health/reconcile-report-reader.js';
import { createVerifyReportReader } from '../admin/health/verify-report-reader.js';
import { listSubscribers } from '../admin/subscribers/list-subscribers.js';
import { canAskService } from '../app/speech-options.js';
import type { Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import type { ObjectStore } from '../store/object-store.js';
import { conditionOf } from '../store/store-condition.js';
import { remedyOf } from '../store/store-remedies.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { openRepairs } from './shared/open-repairs.js';
import { printJson, printLines } from './shared/print.js';
import { createProgress } from './shared/progress.js';
import { type RecoveryWork, withRecovery } from './shared/with-recovery.js';

export function createCommand(): Command {
  return new Command('status')
    .description('show the health verdict of the dashboard, from the store and the configuration alone')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExit code 0 when all is well, 1 for a warning, 2 for a failure that needs action now.',
    )
    .action(async ({ json }: { readonly json?: true }) => {
      const verdict = await withRecovery(true, readVerdict).catch(unreadableStore);
      if (json) printJson({ status: verdict.level, verdict });
      else printLines(formatVerdict(verdict));
      process.exitCode = EXIT_CODES[verdict.level];
    });
}

/** Verdict when the store cannot be opened. Wrong usage and faults in the configuration stay errors. */
function unreadableStore(error: unknown): Verdict {
  if (error instanceof ConfigError || error instanceof UsageError) throw error;
  const condition = conditionOf(error);
  const remedy = condition === null ? '' : ` ${remedyOf(condition)}`;
  const text = `The store cannot be read: ${error instanceof Error ? error.message : String(error)}.${remedy}`;
  const troubles = [{ level: 'failing', text, topic: 'store' }] as const;
  return { level: 'failing', headline: 'Act now', sentence: text, troubles, since: null, unseen: [] };
}

const EXIT_CODES = { ok: EXIT.ok, warning: EXIT.failed, failing: EXIT.usage } as const;

async function readVerdict(work: RecoveryWork): Promise<Verdict> {
  const { config, parts } = work;
  const { store } = parts;
  const { view, quarantine, outbox } = openRepairs(work);
  const progress = createProgress();
  progress.show('reading the ledger');
  const isRead = await view.refresh().then(
    () => true,
    () => false,
  );
  if (isRead) await view.readPast();
  progress.end();
  const now = Date.now();
  const ledger = view.status();
  const facts = createKnownFacts({ ledger });
  const [summary, failures, entries, reconcile, verify, lastProven, subscribers] = await Promise.all([
    view.summary(),
    view.openFailures({ limit: 1 }),
    facts.read('quarantine', quarantine.entries()),
    facts.read('reconcile', createReconcileReportReader(store)()),
    facts.read('verify', createVerifyReportReader(store)()),
    lastProof(store, config.store.canaryInterval, now).catch(() => undefined),
    facts.read('subscribers', listSubscribers({ outbox })),
  ]);
  facts.noteUnread('last24h', 'credentials');
  if (Object.keys(failures.counts).length === 0) facts.noteUnread('failing');
  const { unknown } = facts;
  return verdictOf(
    {
      receiver: null,
      lastProven,
      store: { writable: true, reason: null, condition: null },
      ledger,
      looked: { since: failures.searchedBackTo, unseen: failures.unseen },
      deliveries24h: unknown.last24h === undefined ? summary.total.lines : null,
      failing: unknown.failing === undefined ? failures.counts : null,
      retentionEnds: retentionEnding(failures, parts.retentionWarning, now),
      waiting: entries?.filter(({ state }) => state === 'waiting').length ?? null,
      reconcile,
      verify,
      // Assumes that the receivers have this configuration.
      service: { configured: canAskService(config), interval: config.recovery.interval },
      credentials: credentialNotices(
        credentialsOf(config),
        summary.lastByCredential,
        unknown.credentials === undefined,
        now,
      ),
      subscribers,
      unknown,
    },
    now,
  );
}

/** Time at which a receiver last wrote a canary, which proves the store writable. */
async function lastProof(store: ObjectStore, interval: number, now: number) {
  let newest: Date | null = null;
  for await (const { modifiedAt } of store.list('.canary/')) {
    if (newest === null || modifiedAt > newest) newest = modifiedAt;
  }
  const recent = newest !== null && now - newest.getTime() < MISSED_PROOFS * interval + CLOCK_SKEW;
  return { at: newest?.toISOString() ?? null, recent };
}

const MISSED_PROOFS = 3;
/** Milliseconds that the clocks of the store and of this machine may differ. */
const CLOCK_SKEW = 60_000;

function credentialsOf({ sources }: Config) {
  return Object.entries(sources).map(([source, { credentials }]) => ({
    source,
    credentials: Object.entries(credentials).map(([name, credential]) => ({ name, ...credential })),
  }));
}

function formatVerdict({ headline, sentence, troubles, since, unseen }: Verdict): string[] {
  const looked = since === null ? 'No delivery was read.' : `Covers every delivery since ${since}.`;
  return [
    troubles.length === 0 ? `${headline}. ${sentence}` : `${headline}.`,
    ...troubles.map(({ level, text }) => `  ${level.padEnd(8)} ${text}`),
    looked,
    ...(unseen.length === 0 ? [] : [`Not covered: ${unseen.join('; ')}.`]),
  ];
}
