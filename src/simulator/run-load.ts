import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackStatus, ContentToken, NotificationConfig } from '../speech/wire.js';
import type { NotificationOutcome } from './callbacks/notifier.js';
import { LANGUAGE_CODES } from './content/vocabulary.js';
import { seededChance, seededRandom } from './seeded-random.js';
import type { Simulator, Submission } from './simulator-interface.js';

/** A stream of jobs, as a customer would submit them. */
export interface Load {
  /** How many; unlimited when null. */
  readonly jobs: number | null;
  readonly perSecond: number;
  readonly callbackUrl: string;
  readonly authHeaders: readonly string[];
  /** Taken in turn; undefined leaves `contents` out of the configuration. */
  readonly contents: readonly (readonly ContentToken[] | undefined)[];
  /** Share of jobs that end in `error`, `fetch_error` or `trim_error`. */
  readonly failureRate: number;
  /** Bytes of media; a few hundred kilobytes at random when null. */
  readonly mediaBytes: number | null;
}

export interface SettledJob {
  readonly id: string;
  readonly region: string;
  readonly status: CallbackStatus;
  readonly notified: readonly NotificationOutcome[];
  readonly attempts: number;
}

export interface LoadSummary {
  readonly jobs: number;
  readonly failed: number;
  readonly notifications: Readonly<Record<NotificationOutcome, number>>;
}

const FAILURES: readonly CallbackStatus[] = ['error', 'fetch_error', 'trim_error'];

/**
 * Submits the load, region by region in turn, and resolves when every notification is settled or `signal`
 * ends it. Which job fails depends on the simulator's seed alone.
 */
export async function runLoad(
  simulator: Simulator,
  load: Load,
  surroundings: { signal: AbortSignal; onSettled: (job: SettledJob) => void },
): Promise<LoadSummary> {
  const regions = Object.keys(simulator.batchUrls);
  const settled: SettledJob[] = [];
  const inFlight: Promise<void>[] = [];
  const began = Date.now();
  for (let index = 0; index < (load.jobs ?? Number.POSITIVE_INFINITY); index += 1) {
    const due = began + (index * 1000) / load.perSecond;
    if (!(await waitUntil(due, surroundings.signal))) break;
    const submission = nextJob(load, index, simulator.seed, regions[index % regions.length]);
    const { id, region, notified } = simulator.submit(submission);
    const settle = async () => {
      const job = {
        id,
        region,
        status: submission.outcome ?? 'success',
        notified: await notified,
        attempts: simulator.deliveries.ofJob(id).length,
      };
      settled.push(job);
      surroundings.onSettled(job);
    };
    inFlight.push(settle());
  }
  await Promise.all(inFlight);
  return summary(settled);
}

/** False when the load was ended meanwhile. */
async function waitUntil(due: number, signal: AbortSignal): Promise<boolean> {
  const wait = due - Date.now();
  if (wait > 0) await sleep(wait, null, { signal }).catch(() => {});
  return !signal.aborted;
}

function nextJob(load: Load, index: number, seed: string, region: string | undefined): Submission {
  const random = seededRandom(`load:${seed}:${index}`);
  const contents = load.contents[index % load.contents.length];
  const fails = load.failureRate > 0 && seededChance(`failure:${seed}:${index}`, load.failureRate);
  const notification: NotificationConfig = {
    url: load.callbackUrl,
    ...(load.authHeaders.length > 0 ? { auth_headers: load.authHeaders } : {}),
    ...(contents ? { contents } : {}),
  };
  const language = LANGUAGE_CODES[Math.floor(random() * LANGUAGE_CODES.length)] ?? 'en';
  return {
    ...(region === undefined ? {} : { region }),
    config: {
      type: 'transcription',
      transcription_config: { language },
      notification_config: [notification],
    },
    outcome: fails ? (FAILURES[index % FAILURES.length] ?? 'error') : 'success',
    ...(load.mediaBytes === null ? {} : { mediaBytes: load.mediaBytes }),
  };
}

function summary(jobs: readonly SettledJob[]): LoadSummary {
  const notifications = { delivered: 0, failed: 0, dropped: 0, interrupted: 0 };
  for (const outcome of jobs.flatMap(({ notified }) => notified)) notifications[outcome] += 1;
  const failed = jobs.filter(({ status }) => status !== 'success').length;
  return { jobs: jobs.length, failed, notifications };
}
