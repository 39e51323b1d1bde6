import { isJobId } from '../../domain/job.js';
import { isJsonObject } from '../../lib/text/parse-json.js';
import type { JobConfig, JobError, JobRecord, NotificationConfig } from '../wire.js';

/**
 * Reads a job record. Keeps unknown fields and drops optional ones of a wrong type. Null without a usable id, status or time of
 * creation.
 */
export function readJobRecord(value: unknown): JobRecord | null {
  if (!isJsonObject(value)) return null;
  const { id, status, created_at, data_name, duration, config, errors, ...rest } = value;
  if (typeof id !== 'string' || !isJobId(id)) return null;
  if (typeof status !== 'string' || status === '') return null;
  if (typeof created_at !== 'string' || Number.isNaN(Date.parse(created_at))) return null;
  return {
    ...rest,
    id,
    status,
    created_at,
    data_name: typeof data_name === 'string' ? data_name : '',
    ...(typeof duration === 'number' ? { duration } : {}),
    config: readConfig(config),
    ...(Array.isArray(errors) ? { errors: errors.filter(isJobError) } : {}),
  };
}

export interface JobList {
  readonly jobs: JobRecord[];
  /** Entries that are no job records. */
  readonly malformed: number;
}

/**
 * Reads `{jobs: [...]}`; null for anything else. An answer with an `error` is not a list, even with `jobs`: an empty list would
 * hide every job of the region.
 */
export function readJobList(value: unknown): JobList | null {
  if (!isJsonObject(value) || !Array.isArray(value.jobs) || value.error) return null;
  const jobs = value.jobs.map(readJobRecord).filter((job) => job !== null);
  return { jobs, malformed: value.jobs.length - jobs.length };
}

function readConfig(value: unknown): JobConfig {
  if (!isJsonObject(value)) return { type: 'unknown' };
  const { type, transcription_config, fetch_data, notification_config, ...rest } = value;
  return {
    ...rest,
    type: typeof type === 'string' ? type : 'unknown',
    ...(isJsonObject(transcription_config) ? { transcription_config } : {}),
    ...(isJsonObject(fetch_data) && typeof fetch_data.url === 'string'
      ? { fetch_data: { ...fetch_data, url: fetch_data.url } }
      : {}),
    ...(Array.isArray(notification_config)
      ? { notification_config: notification_config.flatMap(readNotification) }
      : {}),
  };
}

/** Absent `contents` and an empty list mean different things, so only a list counts as given. */
function readNotification(value: unknown): NotificationConfig[] {
  if (!isJsonObject(value) || typeof value.url !== 'string') return [];
  const { url, auth_headers, contents, method } = value;
  return [
    {
      url,
      ...(Array.isArray(auth_headers) ? { auth_headers: auth_headers.filter(isText) } : {}),
      ...(Array.isArray(contents) ? { contents: contents.filter(isText) } : {}),
      ...(isText(method) ? { method } : {}),
    },
  ];
}

function isJobError(value: unknown): value is JobError {
  return isJsonObject(value) && isText(value.message) && isText(value.timestamp);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
