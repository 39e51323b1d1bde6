import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../observe/logger.js';
import type { RecoveryMetrics } from '../observe/recovery-metrics.js';
import type { JobRecord } from '../speech/wire.js';
import { reconcile } from './reconcile.js';
import type { RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob, RecoveryReport } from './recovery-report.js';
import { endOfRetention } from './retention.js';

export interface RegularReconciling {
  readonly parts: RecoveryParts;
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly interval: number;
  readonly metrics: RecoveryMetrics;
  readonly log: Logger;
  /** In [0, 1); replicas started together should not ask together. Default `Math.random`. */
  readonly random?: () => number;
}

/** The first run begins at a random moment within this, so that a restart does not put recovery off. */
const FIRST_RUN_WITHIN = 60_000;

/** Reconciles in this process until `stop`, which ends a run under way and waits for that. */
export function reconcileRegularly(options: RegularReconciling): { stop(): Promise<void> } {
  const { interval, random = Math.random } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const missing = createMissing();

  async function loop(): Promise<void> {
    let wait = random() * Math.min(interval, FIRST_RUN_WITHIN);
    for (;;) {
      await sleep(wait, null, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await runOnce(options, missing, signal);
      wait = interval;
    }
  }

  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}

async function runOnce(
  { parts, metrics, log }: RegularReconciling,
  missing: MissingJobs,
  signal: AbortSignal,
): Promise<void> {
  const started = performance.now();
  const tell = createTeller(parts, log);
  try {
    const report = await reconcile(parts, {
      signal,
      onJob(told, record) {
        metrics.jobs(told.outcome, told.region, 1);
        missing.see(told, record);
        tell(told, record);
      },
    });
    const durationMs = performance.now() - started;
    const oldestUnrecovered = missing.oldestAfter(report.faults.length === 0);
    metrics.finished({ ok: isOk(report), durationMs, oldestUnrecovered });
    tellSummary(log, report, durationMs);
  } catch (error) {
    const durationMs = performance.now() - started;
    metrics.finished({ ok: false, durationMs, oldestUnrecovered: missing.oldestAfter(false) });
    log.error({ event: 'reconcile', err: error }, 'reconcile did not run');
  }
}

function isOk({ outcomes, faults }: RecoveryReport): boolean {
  return outcomes.failed === 0 && faults.length === 0;
}

/** The jobs that are missing and may still be fetched. The oldest is the one whose time runs out first. */
interface MissingJobs {
  see(told: RecoveredJob, record: JobRecord | null): void;
  /**
   * When the oldest was made, as a run ends; milliseconds since the epoch, or null. A run that did not see
   * everything proves nothing about jobs it did not come to: they stay missing.
   */
  oldestAfter(sawAll: boolean): number | null;
}

function createMissing(): MissingJobs {
  const createdAt = new Map<string, number>();
  let seen = new Set<string>();
  return {
    see({ jobId, outcome }, record) {
      if (outcome !== 'failed') return void createdAt.delete(jobId);
      seen.add(jobId);
      if (record !== null) createdAt.set(jobId, Date.parse(record.created_at));
    },
    oldestAfter(sawAll) {
      const gone = sawAll ? [...createdAt.keys()].filter((jobId) => !seen.has(jobId)) : [];
      for (const jobId of gone) createdAt.delete(jobId);
      seen = new Set();
      let oldest: number | null = null;
      for (const time of createdAt.values()) oldest = Math.min(oldest ?? time, time);
      return oldest;
    },
  };
}

/** What changed, and what needs somebody; the rest is in the report. */
function createTeller(parts: RecoveryParts, log: Logger) {
  return ({ jobId, region, outcome, reason, items }: RecoveredJob, record: JobRecord | null): void => {
    const event = { event: 'recovery', jobId, region, outcome, reason, items: items.length };
    if (outcome === 'recovered' || outcome === 'conflict') log.info(event, outcome);
    if (outcome !== 'failed') return;
    const end = record && endOfRetention(record.created_at, parts, (parts.clock ?? Date.now)());
    if (end)
      log.error({ ...event, event: 'retention' }, `the service drops this job at ${end.toISOString()}`);
    else log.warn(event, outcome);
  };
}

function tellSummary(log: Logger, report: RecoveryReport, durationMs: number): void {
  const { outcomes, ignored, faults, window } = report;
  const event = {
    event: 'reconcile',
    ...window,
    outcomes,
    ignored,
    faults,
    durationMs: Math.round(durationMs),
  };
  if (isOk(report)) log.info(event, 'reconciled');
  else log.warn(event, 'reconciled, with trouble');
}
