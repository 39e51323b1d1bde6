import { post } from '../../lib/api/admin-api.js';
import { deliveryPages } from '../../lib/api/delivery-pages.js';
import { clock } from '../../lib/text/format.js';
import { notIndexedInWords } from '../../vendor/index/index-extent.js';

/** @import { ErasurePreview, ErasureReport } from '../../lib/api/api-answers.js' */

/**
 * @typedef {ErasurePreview['jobs'][number]} JobToErase
 * @typedef {ErasureReport['report'][number]} ReportLine the same as a line of `erase --report`
 *
 * @typedef {object} PreviewedJobs
 * @property {readonly JobToErase[]} jobs
 * @property {readonly string[]} unclear ids of jobs that may belong here: the value of the context was left out of their lines
 * @property {string | null} unread what the index lacks of the ledger, so that jobs may be missing; null when it has all of it
 */

/** Jobs that the API takes at once. */
const BATCH = 64;

/**
 * The named jobs, and all with this context; what is there of each.
 * @param {{context: string, ids: readonly string[]}} asked @param {AbortSignal} signal
 * @param {(progress: string) => void} onProgress @returns {Promise<PreviewedJobs>}
 */
export async function previewJobs({ context, ids }, signal, onProgress) {
  const jobIds = new Set(ids);
  /** @type {string | null} */
  let unread = null;
  /** @type {Set<string>} */
  const unclear = new Set();
  if (context !== '') {
    for await (const page of deliveryPages({ context }, signal)) {
      for (const { jobId } of page.deliveries) if (jobId !== null) jobIds.add(jobId);
      unread = notIndexedInWords(page.index, {}, clock);
      onProgress(`Searching the ledger: ${jobIds.size} jobs so far`);
    }
    const contextOmitted = context.slice(0, context.indexOf('='));
    for await (const page of deliveryPages({ contextOmitted }, signal))
      for (const { jobId } of page.deliveries) if (jobId !== null && !jobIds.has(jobId)) unclear.add(jobId);
  }
  /** @type {JobToErase[]} */
  const jobs = [];
  for (const batch of batchesOf([...jobIds])) {
    onProgress(`Looking at ${jobs.length} of ${jobIds.size} jobs`);
    const found = await post('/erasures', { jobs: batch, dryRun: true });
    signal.throwIfAborted();
    if ('jobs' in found) jobs.push(...found.jobs);
  }
  return { jobs, unclear: [...unclear], unread };
}

/**
 * Erases jobs; gives the lines of one batch after the other.
 * @param {readonly string[]} ids @param {{unknown: boolean, reason: string | undefined}} order
 * @returns {AsyncGenerator<readonly ReportLine[], void>}
 */
export async function* eraseJobs(ids, order) {
  for (const jobs of batchesOf(ids)) {
    const answer = await post('/erasures', { ...order, jobs });
    yield 'report' in answer ? answer.report : [];
  }
}

/** @param {readonly string[]} ids */
function batchesOf(ids) {
  return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, n) =>
    ids.slice(n * BATCH, (n + 1) * BATCH),
  );
}
