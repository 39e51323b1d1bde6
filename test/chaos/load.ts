import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../support/random.js';
import type { Account } from './account.js';
import { jobCallbacks, letGo, type Sizes } from './callbacks.js';
import type { Deliverer } from './deliver.js';

export interface LoadOptions {
  readonly seed: number;
  readonly sizes: Sizes;
  readonly jobsPerSecond: number;
  /** No new jobs from then on (`performance.now()`); what is under way is brought to an end. */
  readonly until: number;
}

/** Jobs at once, so that a machine that is too slow for the rate does not spend the run refusing deliveries beyond the limit. */
const MOST_JOBS = 100;

/** Sends jobs at a steady rate, each with retries until it is acknowledged. */
export async function runLoad(options: LoadOptions, deliverer: Deliverer, account: Account): Promise<number> {
  const began = performance.now();
  const underWay = new Set<Promise<void>>();
  let jobs = 0;
  for (; performance.now() < options.until; jobs += 1) {
    const due = began + (jobs * 1000) / options.jobsPerSecond;
    await sleep(Math.max(0, due - performance.now()));
    while (underWay.size >= MOST_JOBS) await Promise.race(underWay);
    const job = sendJob(options, deliverer, account, jobs);
    underWay.add(job);
    void job.finally(() => underWay.delete(job));
  }
  await Promise.all(underWay);
  return jobs;
}

async function sendJob(
  options: LoadOptions,
  deliverer: Deliverer,
  account: Account,
  number: number,
): Promise<void> {
  const random = createRandom(options.seed, `job-${number}`);
  const jobId = `chaos-${options.seed}-${number}`;
  const callbacks = jobCallbacks(random, jobId, options.sizes);
  account.sent.set(jobId, callbacks);
  for (const callback of callbacks) {
    await deliverer.bringAcross(callback, number);
    if (callback.repeat !== null) await deliverer.attempt(callback, number + 1, callback.repeat);
    letGo(callback);
  }
}
