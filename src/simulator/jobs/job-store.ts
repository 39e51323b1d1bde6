import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/time/clock.js';
import type { CallbackStatus, JobConfig } from '../../speech/wire.js';
import type { Content } from '../content/content.js';
import { wavContent, wavSeconds, wavSize } from '../content/wav.js';
import { seededRandom } from '../seeded-random.js';
import { isoTime, type SimulatedJob } from './simulated-job.js';

/** Input for a job; everything except region and configuration is derived from the job's id. */
export interface NewJob {
  readonly region: string;
  readonly config: JobConfig;
  readonly clientRef?: string | null;
  readonly outcome?: CallbackStatus;
  readonly dataName?: string;
  /** An upload; generated otherwise. */
  readonly media?: Content;
  /** Bytes of the generated media. */
  readonly mediaBytes?: number;
  /** Words of the transcript; by default what fits the media. */
  readonly words?: number;
  /** Milliseconds since the epoch; by default now. */
  readonly createdAt?: number;
}

/** Whose jobs a request sees: null all, a `client_ref` only its own. */
export type Viewer = string | null;

export type JobStore = ReturnType<typeof createJobStore>;

/** A finished job is expired after seven days. */
const RETENTION_MS = 7 * 24 * 3600 * 1000;

/** Jobs in memory, region by region. */
export function createJobStore(options: { seed: string; clock: Clock }) {
  const jobs = new Map<string, SimulatedJob>();

  const retained = (job: SimulatedJob): SimulatedJob => {
    const over = options.clock.now() - job.createdAt > RETENTION_MS;
    if (over && (job.status === 'done' || job.status === 'rejected')) job.status = 'expired';
    return job;
  };
  const visible = (region: string, viewer: Viewer) => (job: SimulatedJob) =>
    job.region === region && (viewer === null || job.clientRef === viewer);

  return {
    create(job: NewJob): SimulatedJob {
      const sequence = jobs.size + 1;
      const made = newJob(job, sequence, jobId(options.seed, sequence), options.clock.now());
      jobs.set(made.id, made);
      return made;
    },
    /** The job with this id in that region, if the viewer may see it; retention applied. */
    find(region: string, id: string, viewer: Viewer): SimulatedJob | null {
      const job = jobs.get(id);
      return job && visible(region, viewer)(job) ? retained(job) : null;
    },
    /** The job in any region, of any viewer. */
    get: (id: string) => jobs.get(id) ?? null,
    /** Newest first. */
    list: (region: string, viewer: Viewer) =>
      [...jobs.values()]
        .filter(visible(region, viewer))
        .map(retained)
        .sort((one, other) => other.createdAt - one.createdAt || other.sequence - one.sequence),
    all: () => [...jobs.values()],
  };
}

function newJob(job: NewJob, sequence: number, id: string, now: number): SimulatedJob {
  const random = seededRandom(`job:${id}`);
  const size = job.mediaBytes ?? job.media?.size ?? wavSize(3 + Math.floor(random() * 12));
  const duration = Math.round(wavSeconds(size) * 100) / 100;
  return {
    id,
    region: job.region,
    sequence,
    createdAt: job.createdAt ?? now,
    dataName: job.dataName ?? (job.config.fetch_data ? '' : `recording-${sequence}.wav`),
    duration,
    config: job.config,
    clientRef: job.clientRef ?? null,
    outcome: job.outcome ?? 'success',
    words: job.words ?? Math.min(20_000, Math.round(duration * 2.5)),
    media: job.media ?? wavContent(id, size),
    status: 'running',
    errors: [],
  };
}

/** Ten letters and digits, as in the public examples. */
function jobId(seed: string, sequence: number): string {
  const digest = createHash('sha256').update(`${seed}:${sequence}`).digest();
  return BigInt(`0x${digest.toString('hex')}`)
    .toString(36)
    .slice(0, 10);
}

/** Records a failure the way the service does. */
export function recordError(job: SimulatedJob, message: string, now: number): void {
  job.errors.push({ message, timestamp: isoTime(now) });
}

/** First error of a rejected job, by outcome. Clients show it as the reason. */
const REJECTIONS: Readonly<Record<string, string>> = {
  fetch_error: 'Failed to fetch the audio',
  trim_error: 'Failed to trim the audio before transcription',
};

/** Processing is over: the job gets its final status, and a rejected one the reason. */
export function finishJob(job: SimulatedJob, now: number): void {
  job.status = job.outcome === 'success' ? 'done' : 'rejected';
  if (job.status === 'rejected') recordRejection(job, now);
}

export function recordRejection(job: SimulatedJob, now: number): void {
  const reason = Object.hasOwn(REJECTIONS, job.outcome) ? REJECTIONS[job.outcome] : undefined;
  recordError(job, reason ?? 'Failed to process the audio', now);
}
