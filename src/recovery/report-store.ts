import { buffer } from 'node:stream/consumers';
import { REPORTS_FOLDER, reconcileReportKey } from '../archive/layout.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import type { RecoveryOutcome, RecoveryReport } from './recovery-report.js';

/** Enough that a run of another scope, by hand or on another replica, does not make a job look new. */
const REPORTS_LOOKED_AT = 5;

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

/** What the latest reports since a time said of a job. */
export type EarlierOutcomes = (jobId: string, outcome: RecoveryOutcome) => boolean;

/**
 * The latest reports are the memory of what could not be fetched: without it every run would tell the ledger
 * the same. A report that cannot be read is none.
 */
export async function earlierOutcomes(store: ObjectStore, since: Date): Promise<EarlierOutcomes> {
  const keys: string[] = [];
  const startAfter = reconcileReportKey(since.toISOString());
  for await (const { key } of store.list(REPORTS_FOLDER, { startAfter })) {
    keys.push(key);
    if (keys.length > REPORTS_LOOKED_AT) keys.shift();
  }
  const told = new Set<string>();
  for (const key of keys) {
    for (const { jobId, outcome } of await readJobs(store, key)) told.add(`${jobId} ${outcome}`);
  }
  return (jobId, outcome) => told.has(`${jobId} ${outcome}`);
}

async function readJobs(store: ObjectStore, key: string): Promise<RecoveryReport['jobs']> {
  const reading = await store.read(key);
  if (reading === null) return [];
  const text = (await buffer(reading.body)).toString('utf8');
  try {
    const { jobs } = JSON.parse(text) as Partial<RecoveryReport>;
    return Array.isArray(jobs) ? jobs : [];
  } catch {
    return [];
  }
}
