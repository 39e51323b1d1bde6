import { buffer } from 'node:stream/consumers';
import { REPORTS_FOLDER, reconcileReportKey } from '../archive/layout.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import type { RecoveredJob, RecoveryOutcome, RecoveryReport } from './recovery-report.js';

/** Enough that a run of another scope, by hand or on another replica, does not make a job look new. */
const REPORTS_LOOKED_AT = 5;

/** Two days of hourly runs with a region that none of them could list. */
const MAX_REPORTS_LOOKED_AT = 50;

/** Two runs may have begun in the same millisecond. */
const NAME_ATTEMPTS = 10;

const HEADERS = { contentType: 'application/json', metadata: {} } as const;

/** Keeps a report in the store and returns its key. Throws `StoreError`. */
export async function storeReport(store: ObjectStore, report: RecoveryReport): Promise<string> {
  const body = Buffer.from(JSON.stringify(report));
  const startedAt = Date.parse(report.startedAt);
  for (let attempt = 0; attempt < NAME_ATTEMPTS; attempt += 1) {
    const key = reconcileReportKey(new Date(startedAt + attempt).toISOString());
    if ((await store.create(key, body, HEADERS)) === 'created') return key;
  }
  throw new StoreError('create', `${NAME_ATTEMPTS} reports of this moment are there already`);
}

/** What the latest reports say. */
export interface EarlierReports {
  /** Whether one of them told this outcome of a job. */
  readonly told: (jobId: string, outcome: RecoveryOutcome) => boolean;
  /** Jobs whose last word is `failed` or `pending`, as it was told. */
  readonly open: readonly RecoveredJob[];
  /** Until when the latest run that left nothing out of a region looked; null when none of them did. */
  readonly lookedUntil: (region: string) => number | null;
}

export const NO_REPORTS: EarlierReports = { told: () => false, open: [], lookedUntil: () => null };

/**
 * The latest reports since a time are the memory of what could not be fetched and of how far was looked: without
 * it every run would tell the ledger the same, and jobs would be forgotten as they leave the window. They are read back
 * until one left nothing out of each region, within bounds. A report that cannot be read is none.
 */
export async function earlierReports(
  store: ObjectStore,
  since: Date,
  regions: readonly string[],
): Promise<EarlierReports> {
  const keys: string[] = [];
  const startAfter = reconcileReportKey(since.toISOString());
  for await (const { key } of store.list(REPORTS_FOLDER, { startAfter })) keys.push(key);
  const told = new Set<string>();
  const lastWords = new Map<string, RecoveredJob>();
  const until = new Map<string, number>();
  for (const [age, key] of keys.slice(-MAX_REPORTS_LOOKED_AT).reverse().entries()) {
    if (age >= REPORTS_LOOKED_AT && regions.every((region) => until.has(region))) break;
    const report = await readReport(store, key);
    for (const region of report.regions ?? []) {
      const end = Date.parse(report.window?.until ?? '');
      if (!until.has(region) && !Number.isNaN(end)) until.set(region, end);
    }
    for (const job of report.jobs ?? []) {
      told.add(`${job.jobId} ${job.outcome}`);
      if (!lastWords.has(job.jobId)) lastWords.set(job.jobId, job);
    }
  }
  return {
    told: (jobId, outcome) => told.has(`${jobId} ${outcome}`),
    open: [...lastWords.values()].filter(({ outcome }) => outcome === 'failed' || outcome === 'pending'),
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
