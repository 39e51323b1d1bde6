import type { NotificationConfig } from '../../speech/wire.js';
import type { SimulatedJob } from '../jobs/simulated-job.js';

/** Appends `id` and `status` to the query of the submitter's address. */
export function callbackUrl(url: string, jobId: string, status: string): string {
  const [address = '', fragment] = url.split('#', 2);
  const query = `id=${encodeURIComponent(jobId)}&status=${encodeURIComponent(status)}`;
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
  return `${address}${joint}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

export function callbackMethod(entry: NotificationConfig): string {
  return (entry.method ?? 'POST').toUpperCase();
}

/** Header lines of the submitter, a repeated name as repeated header, and the service's user agent. */
export function callbackHeaders(entry: NotificationConfig): Record<string, string | string[]> {
  const headers = new Map<string, [name: string, values: string[]]>();
  for (const line of entry.auth_headers ?? []) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const [, values] = headers.get(name.toLowerCase()) ?? [name, []];
    headers.set(name.toLowerCase(), [name, [...values, line.slice(colon + 1).trim()]]);
  }
  headers.set('user-agent', ['User-Agent', ['speech-API/2.0']]);
  const entries = [...headers.values()].map(([name, values]) => [
    name,
    values.length > 1 ? values : values[0],
  ]);
  return Object.fromEntries(entries) as Record<string, string | string[]>;
}

/** Texts as in the one public sample of a job record with failed notifications. */
export function attemptFailure(
  job: SimulatedJob,
  entry: NotificationConfig,
  result: { status: number } | { error: string },
): string {
  const why =
    'status' in result
      ? `Response status: ${result.status}`
      : `${goVerb(entry)} "${callbackUrl(entry.url, job.id, job.outcome)}": ${result.error}`;
  return `Error in sending notification: unable to send notification: ${why}, retrying`;
}

export const GIVEN_UP = 'Sending notification failed';

function goVerb(entry: NotificationConfig): string {
  return callbackMethod(entry) === 'PUT' ? 'Put' : 'Post';
}
