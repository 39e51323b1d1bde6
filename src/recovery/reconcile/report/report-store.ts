import { hash } from 'node:crypto';
import { REPORTS_FOLDER, reconcileReportKey } from '../../../archive/layout.js';
import type { RecoveryOutcome } from '../../../domain/recovery-outcome.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { readDocument } from '../../../store/read-document.js';
import { failureReason } from '../recovery-errors.js';
import type { RecoveryParts } from '../recovery-parts.js';
import { createReport } from './create-report.js';
import type { RecoveredJob, RecoveryReport } from './recovery-report.js';

/** Two days of hourly runs with a region that none of them could list. */
const MAX_REPORTS_READ = 50;

/** Writes a report to the store and returns it; with a further fault if the write fails. */
export async function storeReport(store: ObjectStore, report: RecoveryReport): Promise<RecoveryReport> {
  try {
    await createReport(store, reconcileReportKey, report);
    return report;
  } catch (error) {
    const reason = `the report was not stored: ${failureReason(error)}`;
    return { ...report, faults: [...report.faults, { region: null, reason }] };
  }
}

/** Summary of the latest reports, which are the only memory between runs. */
export interface EarlierReports {
  /** Fingerprint of the settings that determine the expected artefacts of a job. */
  readonly expectations: string;
  /** The last result of each job whose last outcome is `failed`, `pending` or `unrecoverable`. */
  readonly open: ReadonlyMap<string, RecoveredJob>;
  /** Watermark by region: the end of its latest complete run, in milliseconds since the epoch. */
  readonly completeUntil: ReadonlyMap<string, number>;
}

function expectationsOf({ sources, publicUrl }: Pick<RecoveryParts, 'sources' | 'publicUrl'>): string {
  const expected = Object.entries(sources)
    .map(([name, { contents, keyPrefix }]) => [name, contents, keyPrefix])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  return hash('sha256', JSON.stringify([publicUrl, expected])).slice(0, 16);
}

/**
 * Reads the reports of the service's retention period, newest first and at most 50, until each region has a complete run with the same
 * expectations: such a run checked every open job, and its report lists those that were still open. A report that cannot be parsed counts
 * as empty. One from the future, made while the clock was wrong, sets no watermark. Throws `StoreError`.
 */
export async function readEarlierReports(parts: RecoveryParts, startedAt: number): Promise<EarlierReports> {
  const { store, retention, speech } = parts;
  const expectations = expectationsOf(parts);
  const startAfter = reconcileReportKey(new Date(startedAt - retention).toISOString());
  const keys = await Array.fromAsync(store.keys(REPORTS_FOLDER, { startAfter }));
  const lastResults = new Map<string, RecoveredJob>();
  const completeUntil = new Map<string, number>();
  for (const key of keys.slice(-MAX_REPORTS_READ).reverse()) {
    if (speech.regions.every((region) => completeUntil.has(region))) break;
    const report = await readReport(store, key);
    for (const job of report.jobs ?? []) {
      const isCovered = job.region !== null && completeUntil.has(job.region);
      if (!isCovered && !lastResults.has(job.jobId)) lastResults.set(job.jobId, job);
    }
    const until = Date.parse(report.window?.until ?? '');
    if (report.expectations !== expectations || !(until <= startedAt)) continue;
    for (const region of report.regions ?? [])
      if (!completeUntil.has(region)) completeUntil.set(region, until);
  }
  const open = [...lastResults].filter(([, { outcome }]) => OPEN.includes(outcome));
  return { expectations, open: new Map(open), completeUntil };
}

/** A failed or pending job may still arrive, and an unrecoverable one may be imported. */
const OPEN: readonly RecoveryOutcome[] = ['failed', 'pending', 'unrecoverable'];

async function readReport(store: ObjectStore, key: string): Promise<Partial<RecoveryReport>> {
  const report = await readDocument(store, key, Number.POSITIVE_INFINITY);
  return Array.isArray(report?.jobs) ? report : {};
}
