import { get } from './api.js';

/**
 * Jobs whose last word is a failure. The ledger tells failures line by line; what was repaired since is not one
 * any more, so the newest line of each job decides.
 */

const TROUBLE = ['failed', 'unrecoverable', 'refused', 'conflict'];
/** Jobs looked at; more than this is for a replay, not for clicking through. */
const MAX_JOBS = 40;

/**
 * `{failures: ledger lines, newest first; more: whether there are further ones}`. Without a `since` the API
 * stays within what it holds in memory, 7 days at most: what is older, the service has forgotten anyway.
 */
export async function openFailures(signal) {
  const pages = await Promise.all(
    TROUBLE.map((outcome) => get('/deliveries', { query: { outcome, limit: 100 }, signal })),
  );
  const lines = pages.flatMap(({ deliveries }) => deliveries).filter(({ jobId }) => jobId !== null);
  const newest = new Map();
  for (const line of lines.sort(newestFirst)) if (!newest.has(line.jobId)) newest.set(line.jobId, line);
  const candidates = [...newest.values()];
  const last = await Promise.all(candidates.slice(0, MAX_JOBS).map((line) => lastWordOn(line, signal)));
  return { failures: last.filter((line) => line !== null), more: candidates.length > MAX_JOBS };
}

const SETTLED = new Set(['stored', 'duplicate', 'recovered', 'released', 'erased', 'noted']);

/** The line itself when nothing later settled it. */
async function lastWordOn(line, signal) {
  const { deliveries } = await get('/deliveries', { query: { job: line.jobId, limit: 10 }, signal });
  const later = deliveries.filter(
    ({ receivedAt, outcome }) => receivedAt >= line.receivedAt && SETTLED.has(outcome),
  );
  return later.length === 0 || line.outcome === 'conflict' ? line : null;
}

function newestFirst(a, b) {
  return a.receivedAt < b.receivedAt ? 1 : a.receivedAt > b.receivedAt ? -1 : 0;
}
