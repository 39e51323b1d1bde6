import type { UsageResponse } from '../../speech/wire.js';
import type { SimulatedJob } from './simulated-job.js';

/** Counts and hours per language within `since` and `until`; the shape follows the public documentation. */
export function usageOf(jobs: readonly SimulatedJob[], query: URLSearchParams): UsageResponse {
  const since = query.get('since');
  const until = query.get('until');
  const from = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  const to = until === null ? Number.POSITIVE_INFINITY : Date.parse(until);
  const counted = jobs.filter(({ createdAt }) => createdAt >= from && createdAt <= to);
  const languages = [...new Set(counted.map(languageOf))];
  return {
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
    summary: [{ mode: 'batch', type: 'transcription', count: counted.length, duration_hrs: hours(counted) }],
    details: languages.map((language) => {
      const group = counted.filter((job) => languageOf(job) === language);
      return {
        mode: 'batch',
        type: 'transcription',
        language,
        count: group.length,
        duration_hrs: hours(group),
      };
    }),
  };
}

function languageOf(job: SimulatedJob): string {
  return job.config.transcription_config?.language ?? 'en';
}

function hours(jobs: readonly SimulatedJob[]): number {
  return jobs.reduce((sum, { duration }) => sum + duration, 0) / 3600;
}
