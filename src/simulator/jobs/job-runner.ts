import { setMaxListeners } from 'node:events';
import type { Clock } from '../../lib/time/clock.js';
import type { createNotifier, NotificationOutcome } from '../callbacks/notifier.js';
import { canFetch } from './can-fetch.js';
import { asJobConfig } from './job-config.js';
import { type createJobStore, finishJob, type NewJob } from './job-store.js';
import type { SimulatedJob } from './simulated-job.js';

/** Runs each job from its creation to the end of its notifications. */
export function createJobRunner(
  jobs: ReturnType<typeof createJobStore>,
  notifier: ReturnType<typeof createNotifier>,
  clock: Clock,
) {
  const stop = new AbortController();
  // Every job and notification in flight has a listener on it: not a leak.
  setMaxListeners(0, stop.signal);
  const inFlight = new Set<Promise<unknown>>();

  async function run(job: SimulatedJob): Promise<NotificationOutcome[]> {
    await clock.sleep(0);
    if (stop.signal.aborted) return [];
    const { fetch_data: fetched } = job.config;
    if (job.outcome === 'success' && fetched && !(await canFetch(fetched.url, stop.signal)))
      job.outcome = 'fetch_error';
    if (stop.signal.aborted) return [];
    if (job.status === 'running') finishJob(job, clock.now());
    return job.status === 'deleted' ? [] : notifier.notify(job);
  }

  return {
    start(newJob: NewJob): { job: SimulatedJob; notified: Promise<NotificationOutcome[]> } {
      const job = jobs.create({ ...newJob, config: asJobConfig(newJob.config) });
      const notified = run(job);
      inFlight.add(notified);
      notified.catch(() => {}).finally(() => inFlight.delete(notified));
      return { job, notified };
    },
    /** Resolves when no job is in flight. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.allSettled([...inFlight]);
    },
    /** Ends the jobs in flight. `idle` resolves when they have ended, once the notifier is closed as well. */
    stop: () => stop.abort(),
  };
}
