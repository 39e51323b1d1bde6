import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { REPORTS_FOLDER, reconcileReportKey } from '../../archive/layout.js';
import type { RecoveryOutcome } from '../../domain/recovery-outcome.js';
import type { ObjectStore } from '../../store/object-store.js';
import { failureReason } from '../recovery-errors.js';
import type { RecoveryParts } from '../recovery-parts.js';
import { createReport } from './create-report.js';
import type { RecoveredJob, RecoveryReport, WholeWindow } from './recovery-report.js';

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
  /** The last result of each job whose last outcome is `failed`, `pending` or `unrecoverable`. */
  readonly open: readonly RecoveredJob[];
  /** Until when the latest run that left nothing out of a region looked; null when none of them did. */
  readonly lookedUntil: (region: string) => number | null;
  /** Of runs with the expectations of this one. */
  readonly wholeWindow: WholeWindow;
}

export const NO_REPORTS: EarlierReports = {
  hasOutcome: () => false,
  open: [],
  lookedUntil: () => null,
  wholeWindow: { expectations: '', at: {} },
};

/** Fingerprint of the settings that decide which artefacts are expected of a job. */
function expectationsOf({ sources, publicUrl }: Pick<RecoveryParts, 'sources' | 'publicUrl'>): string {
  const expected = Object.entries(sources)
    .map(([name, { contents, keyPrefix }]) => [name, contents, keyPrefix])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  return hash('sha256', JSON.stringify([publicUrl, expected])).slice(0, 16);
}

/**
 * Reads the reports of the service's retention period, newest first, until one left nothing out of each region, within
 * bounds. They are the memory of what could not be fetched and of how far was looked: without it every run would
 * repeat its ledger lines, and jobs would be forgotten as they leave the window. A report that cannot be parsed counts
 * as empty. Throws `StoreError`.
 */
export async function readEarlierReports(parts: RecoveryParts, startedAt: number): Promise<EarlierReports> {
  const { store, retention, speech } = parts;
  const expectations = expectationsOf(parts);
  const keys: string[] = [];
  const startAfter = reconcileReportKey(new Date(startedAt - retention).toISOString());
  for await (const { key } of store.list(REPORTS_FOLDER, { startAfter })) keys.push(key);
  const outcomes = new Set<string>();
  const lastResults = new Map<string, RecoveredJob>();
  const until = new Map<string, number>();
  const whole: Record<string, string> = {};
  const isCovered = new Set<string | null>();
  for (const [age, key] of keys.slice(-MAX_REPORTS_READ).reverse().entries()) {
    if (age >= REPORTS_READ && speech.regions.every((region) => until.has(region))) break;
    const report = await readReport(store, key);
    for (const region of report.regions ?? []) {
      const end = Date.parse(report.window?.until ?? '');
      if (!until.has(region) && !Number.isNaN(end)) until.set(region, end);
    }
    const listed = report.wholeWindow?.expectations === expectations ? report.wholeWindow.at : {};
    for (const [region, at] of Object.entries(listed)) if (at > (whole[region] ?? '')) whole[region] = at;
    for (const job of report.jobs ?? []) {
      outcomes.add(`${job.jobId} ${job.outcome}`);
      if (!lastResults.has(job.jobId) && !isCovered.has(job.region)) lastResults.set(job.jobId, job);
    }
    // Such a run looked at every job that was open before, and its report has those that still were.
    if (report.limited === false) for (const region of report.regions ?? []) isCovered.add(region);
  }
  return {
    hasOutcome: (jobId, outcome) => outcomes.has(`${jobId} ${outcome}`),
    open: [...lastResults.values()].filter(({ outcome }) => OPEN.includes(outcome)),
    lookedUntil: (region) => until.get(region) ?? null,
    wholeWindow: { expectations, at: whole },
  };
}

/** A failed or pending job may still come, and an unrecoverable one may be imported. */
const OPEN: readonly RecoveryOutcome[] = ['failed', 'pending', 'unrecoverable'];

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
