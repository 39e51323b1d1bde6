import type { CallbackStatus, JobConfig, JobError, JobRecord, JobStatus } from '../../speech/wire.js';
import type { Content } from '../content/content.js';

/** A job as the simulated service keeps it. */
export interface SimulatedJob {
  readonly id: string;
  readonly region: string;
  /** Order of creation, which breaks ties between equal times. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly dataName: string;
  /** Seconds. */
  readonly duration: number;
  readonly config: JobConfig;
  /** The `client_ref` of the temporary key that made it; null when made without one. */
  readonly clientRef: string | null;
  /** Result of processing, which is also the status of its callbacks. */
  outcome: CallbackStatus;
  readonly words: number;
  readonly media: Content;
  status: JobStatus;
  readonly errors: JobError[];
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The record as the jobs API shows it; `errors` only when there are any. */
export function jobRecord(job: SimulatedJob): JobRecord {
  return {
    id: job.id,
    status: job.status,
    created_at: isoTime(job.createdAt),
    data_name: job.dataName,
    duration: job.duration,
    config: job.config,
    ...(job.errors.length > 0 ? { errors: [...job.errors] } : {}),
  };
}
