import { buffer } from 'node:stream/consumers';
import { REPORTS_FOLDER, reconcileReportKey } from '../archive/layout.js';
import type { ObjectStore } from '../store/object-store.js';
import { createReport } from './create-report.js';
import { failureReason } from './recovery-errors.js';
import type { RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob, RecoveryOutcome, RecoveryReport } from './recovery-report.js';

/** Enough that a run of another scope, by hand or on another replica, does not make a job look new. */
const REPORTS_READ = 5;

/** Two days of hourly runs with a region that none of them could list. */
const MAX_REPORTS_READ = 50;

/** Keeps a report in the store and returns it; when the store does not take it, with a fault that says so. */
export async function storeReport(store: ObjectStore, report: RecoveryReport): Promise<RecoveryReport> {
  try {
    await createReport(store, reconcileReportKey, report);
    return report;
  } catch (error) {
    const reason = `the report was not stored: ${failureReason(error)}`;
    return { ...report, faults: [...report.faults, { region: null, reason }] };
  }
}

/** What the latest reports say. */
export interface EarlierReports {
  /** Whether one of them holds this outcome of a job. */
  readonly hasOutcome: (jobId: string, outcome: RecoveryOutcome) => boolean;
  /** The last result of each job whose last outcome is `failed` or `pending`. */
  readonly open: readonly RecoveredJob[];
  /** Until when the latest run that left nothing out of a region looked; null when none of them did. */
  readonly lookedUntil: (region: string) => number | null;
}

export const NO_REPORTS: EarlierReports = { hasOutcome: () => false, open: [], lookedUntil: () => null };

/**
 * Reads the reports of the service's retention period, newest first, until one left nothing out of each region, within
 * bounds. They are the memory of what could not be fetched and of how far was looked: without it every run would
 * repeat its ledger lines, and jobs would be forgotten as they leave the window. A report that cannot be parsed counts
 * as empty. Throws `StoreError`.
 */
export async function readEarlierReports(
  { store, retention, speech }: RecoveryParts,
  startedAt: number,
): Promise<EarlierReports> {
  const keys: string[] = [];
  const startAfter = reconcileReportKey(new Date(startedAt - retention).toISOString());
  for await (const { key } of store.list(REPORTS_FOLDER, { startAfter })) keys.push(key);
  const outcomes = new Set<string>();
  const lastResults = new Map<string, RecoveredJob>();
  const until = new Map<string, number>();
  const isCovered = new Set<string | null>();
  for (const [age, key] of keys.slice(-MAX_REPORTS_READ).reverse().entries()) {
    if (age >= REPORTS_READ && speech.regions.every((region) => until.has(region))) break;
    const report = await readReport(store, key);
    for (const region of report.regions ?? []) {
      const end = Date.parse(report.window?.until ?? '');
      if (!until.has(region) && !Number.isNaN(end)) until.set(region, end);
    }
    for (const job of report.jobs ?? []) {
      outcomes.add(`${job.jobId} ${job.outcome}`);
      if (!lastResults.has(job.jobId) && !isCovered.has(job.region)) lastResults.set(job.jobId, job);
    }
    // Such a run looked at every job that was open before, and its report has those that still were.
    if (report.limited === false) for (const region of report.regions ?? []) isCovered.add(region);
  }
  return {
    hasOutcome: (jobId, outcome) => outcomes.has(`${jobId} ${outcome}`),
    open: [...lastResults.values()].filter(({ outcome }) => outcome === 'failed' || outcome === 'pending'),
    lookedUntil: (region) => until.get(region) ?? null,
  };
}

async function readReport(store: ObjectStore, key: string): Promise<Partial<RecoveryReport>> {
  const reading = await store.read(key);
  if (reading === null) return {};
  const text = (await buffer(reading.body)).toString('utf8');
  try {
    const report = JSON.parse(text) as Partial<RecoveryReport>;
    return Array.isArray(report.jobs) ? report : {};
  } catch {
    return {};
  }
}
