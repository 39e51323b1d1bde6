import { Command } from 'commander';
import { retentionViewOf } from '../app/retention-view-of.js';
import { canAskService } from '../app/speech-options.js';
import { createRefusalCountsReader } from '../archive/read-refusal-counts.js';
import { findSummary } from '../index/questions/find-summary.js';
import { DeadlineError } from '../lib/time/deadline.js';
import { createDeadEventCounter } from '../operations/admin/subscribers/count-dead-events.js';
import { listSubscribers } from '../operations/admin/subscribers/list-subscribers.js';
import type { CredentialState } from '../operations/answers/health.js';
import { credentialSettings } from '../operations/health/credential-states.js';
import { verdictOf } from '../operations/health/health-verdict.js';
import { readFacts } from '../operations/health/read-facts.js';
import { createReconcileReportReader } from '../operations/health/reconcile-report-reader.js';
import { issuesOfReplicas } from '../operations/health/replica-issues.js';
import {
  createReplicaReportsReader,
  hasProof,
  type ReplicaReports,
} from '../operations/health/replica-reports.js';
import { createVerifyReportReader } from '../operations/health/verify-report-reader.js';
import { describeIssue } from '../operations/issues/describe-issue.js';
import { issueOf } from '../operations/issues/issue-kinds.js';
import {
  headlineOf,
  lastUseOf,
  notCovered,
  textWithoutIssues,
  type Verdict,
} from '../operations/issues/verdict-words.js';
import { boundedStore } from '../store/probe/bounded-store.js';
import { conditionOf } from '../store/store-condition.js';
import { createOutboxReader } from '../subscribers/outbox-reader.js';
import { EXIT } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { tryStore } from './shared/on-store/try-store.js';
import { type LedgerWork, withLedger } from './shared/on-store/with-ledger.js';
import { reasonUnlessUsage } from './shared/report-unreadable-store.js';

export function createCommand(): Command {
  return new Command('status')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { readonly json?: true }) => {
      const status = await withLedger(readStatus, { wrapStore: boundedStore }).catch(unreadableStore);
      if (json)
        printJson({
          verdict: status.verdict,
          credentials: status.credentials,
          credentialsLastUsed: status.lastUses,
        });
      else printLines(formatStatus(status));
      process.exitCode = EXIT_CODES[status.verdict.level];
    });
}

interface Status {
  readonly verdict: Verdict;
  /** Deliveries of the last 24 hours; null when they could not be counted. */
  readonly deliveries: number | null;
  /** Credentials of this configuration. */
  readonly credentials: readonly CredentialState[];
  /** When credentials were last used, by `<source>/<credential>`; of the last 7 days. */
  readonly lastUses: Readonly<Record<string, string>>;
}

/** Status when the store cannot be opened. */
function unreadableStore(error: unknown): Status {
  const reason = reasonUnlessUsage(error);
  const issues = [issueOf('store-unreadable', { reason, condition: conditionOf(error) })];
  const unseen = [
    'deliveries',
    'callbacks',
    'failing',
    'quarantine',
    'reconcile',
    'verify',
    'credentials',
    'subscribers',
    'replicas',
  ] as const;
  return {
    verdict: { level: 'failing', index: { since: null, until: null, missing: [] }, unseen, issues },
    deliveries: null,
    credentials: [],
    lastUses: {},
  };
}

const EXIT_CODES = { ok: EXIT.ok, unknown: EXIT.failed, warning: EXIT.failed, failing: EXIT.usage } as const;

async function readStatus({ config, store, view, progress }: LedgerWork): Promise<Status> {
  const outbox = createOutboxReader(store, config.subscribers);
  const reports = createReplicaReportsReader(store, config.store.canaryInterval);
  const found = await reports().catch(nullUnlessDeadline);
  const isProven = found !== null && hasProof(store, found.newest, config.store.canaryInterval);
  progress.show('reading the ledger');
  const isRead = await view.refresh().then(() => true, nullUnlessDeadline);
  if (isRead) await view.untilComplete();
  const now = Date.now();
  const { facts, summary, last24h } = await readFacts(
    {
      view,
      summarise: (query) => findSummary(view.calls, query),
      retained: retentionViewOf(config, store),
      senderRefusals: createRefusalCountsReader(store, Date.now).lastDay,
      lastReconcile: createReconcileReportReader(store, view.missedJobs),
      lastVerify: createVerifyReportReader(store),
      subscribers: () =>
        listSubscribers({ outbox, view, countDead: createDeadEventCounter(store, view.sent) }),
      replicaIssues: async () => issuesOfReplicas(await reports()),
      // Assumes that the receivers have this configuration.
      sources: credentialSettings(config.sources),
      service: { configured: canAskService(config), interval: config.recovery.interval },
      retention: config.speech.retention,
    },
    {
      receiver: null,
      // A store that cannot be written has no recent canary, so it is tested here.
      store: isProven ? PROVEN : await tryStore(config, store),
      ownIssues: [],
      lastProven: found === null ? undefined : lastProof(found),
    },
    now,
    null,
  );
  return {
    verdict: verdictOf(facts, now),
    deliveries: last24h?.total.lines ?? null,
    credentials: facts.credentials,
    lastUses: summary?.last.byCredential ?? {},
  };
}

const PROVEN = { writable: true, reason: null, condition: null, lastSuccessAt: null } as const;

function nullUnlessDeadline(error: unknown): null {
  if (error instanceof DeadlineError) throw error;
  return null;
}

/** Time at which a receiver last wrote a canary, which proves the store writable. */
function lastProof({ newest, reports }: ReplicaReports) {
  return { at: newest?.toISOString() ?? null, recent: reports.length > 0 };
}

function formatStatus({ verdict, deliveries, credentials, lastUses }: Status): string[] {
  const { issues } = verdict;
  const headline = `${headlineOf(verdict)}.`;
  const unseen = notCovered(verdict, (instant) => instant);
  return [
    issues.length === 0 ? `${headline} ${textWithoutIssues(verdict, deliveries, String)}` : headline,
    ...issues.flatMap((issue) => {
      const { text, remedy } = describeIssue(issue);
      const place = ' '.repeat(11);
      return [`  ${issue.level.padEnd(8)} ${text}`, ...(remedy === null ? [] : [`${place}${remedy}`])];
    }),
    ...(unseen === null ? [] : [unseen]),
    ...credentials.filter(({ state }) => state === 'unknown').map((each) => `${nameOf(each)}: use unknown`),
    ...credentials.filter(isUnused).map((each) => lastUseOf(nameOf(each), null, (instant) => instant)),
    ...Object.entries(lastUses).map(([name, at]) => {
      const use = lastUseOf(name, at, (instant) => instant);
      return credentials.some((each) => nameOf(each) === name) ? use : `${use}; not in this configuration`;
    }),
  ];
}

const nameOf = ({ source, credential }: CredentialState) => `${source}/${credential}`;
const isUnused = ({ state }: CredentialState) => state === 'unused';
