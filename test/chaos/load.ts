import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../support/random.js';
import { type Account, type Acknowledgement, countAnswer } from './account.js';
import { type Callback, jobCallbacks, type Sizes } from './callbacks.js';
import { type Answer, send } from './send.js';

export interface LoadOptions {
  readonly seed: number;
  /** Addresses of the replicas; attempts go to them in turn. */
  readonly addresses: readonly string[];
  readonly token: string;
  readonly sizes: Sizes;
  readonly jobsPerSecond: number;
  /** No new jobs from then on (`performance.now()`); what is under way is brought to an end. */
  readonly until: number;
  /** True once nothing disturbs any more: then every good callback must get through. */
  readonly isCalm: () => boolean;
}

/** Attempts in calm weather before a callback counts as given up. */
const CALM_ATTEMPTS = 20;

/** Sends jobs at a steady rate, each with retries until it is acknowledged. */
export async function runLoad(options: LoadOptions, account: Account): Promise<number> {
  const began = performance.now();
  const underWay = new Set<Promise<void>>();
  let jobs = 0;
  for (; performance.now() < options.until; jobs += 1) {
    const due = began + (jobs * 1000) / options.jobsPerSecond;
    await sleep(Math.max(0, due - performance.now()));
    // A sender waits when too much hangs; the load stays bounded.
    while (underWay.size >= 200) await Promise.race(underWay);
    const job = sendJob(options, account, jobs);
    underWay.add(job);
    void job.finally(() => underWay.delete(job));
  }
  await Promise.all(underWay);
  return jobs;
}

async function sendJob(options: LoadOptions, account: Account, number: number): Promise<void> {
  const random = createRandom(options.seed, `job-${number}`);
  const jobId = `chaos-${options.seed}-${number}`;
  const callbacks = jobCallbacks(random, jobId, options.sizes);
  account.sent.set(jobId, callbacks);
  for (const callback of callbacks) {
    await bringAcross(options, account, callback, number);
    if (callback.repeat) await attempt(options, account, callback, number + 1, 'none');
  }
}

async function bringAcross(
  options: LoadOptions,
  account: Account,
  callback: Callback,
  turn: number,
): Promise<void> {
  for (let tries = 0, calm = 0; calm < CALM_ATTEMPTS; tries += 1) {
    const spoiling = callback.spoilings[Math.min(tries, callback.spoilings.length - 1)] ?? 'none';
    if (options.isCalm()) calm += 1;
    const settled = await attempt(options, account, callback, turn + tries, spoiling);
    if (settled) return;
    await sleep(200 + 100 * Math.min(tries, 10));
  }
  if (!callback.malformed) account.givenUp.push(callback);
}

/** True when there is nothing more to do for this callback. */
async function attempt(
  options: LoadOptions,
  account: Account,
  callback: Callback,
  turn: number,
  spoiling: Callback['spoilings'][number],
): Promise<boolean> {
  const address = options.addresses[turn % options.addresses.length] ?? '';
  const isWhole = spoiling === 'none' || spoiling === 'drip' || callback.body.length < 2;
  if (isWhole) account.whole.add(callback);
  const answer = await send(address, callback, spoiling, options.token);
  countAnswer(account, answer === null ? 'none' : `${answer.status}`);
  if (answer === null) return false;
  if (answer.status >= 200 && answer.status < 300) {
    return takeAcknowledgement(account, callback, answer, isWhole && spoiling !== 'wrong-credential');
  }
  // A malformed body is refused for good when it is not kept; everything else is worth another try.
  return callback.malformed && answer.status === 400;
}

function takeAcknowledgement(
  account: Account,
  callback: Callback,
  answer: Answer,
  deserved: boolean,
): boolean {
  if (!deserved)
    account.oddities.push(`${callback.jobId}: ${answer.status} for a body that was not sent whole`);
  try {
    account.acknowledged.push({ callback, acknowledgement: JSON.parse(answer.body) as Acknowledgement });
  } catch {
    account.oddities.push(`${callback.jobId}: ${answer.status} with a body that is no JSON`);
  }
  return true;
}
