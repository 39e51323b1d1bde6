import { isNotConfigured, isUnknownJob } from '../../../recovery/reconcile/recovery-errors.js';
import type { RecoveryParts } from '../../../recovery/reconcile/recovery-parts.js';
import type { Job } from '../../answers/jobs.js';

type ServiceLookup = Pick<Job, 'service' | 'serviceAnswer'>;

/** Reads records from the speech service. */
export interface RecordSource {
  readonly regions: readonly string[];
  /** Milliseconds to wait for the speech service. */
  readonly within: number;
  record(region: string, jobId: string, signal: AbortSignal): Promise<object>;
}

export function recordsOf({ speech }: Pick<RecoveryParts, 'speech'>, within: number): RecordSource {
  return {
    regions: speech.regions,
    within,
    record: (region, jobId, signal) => speech.jobs(region).record(jobId, signal),
  };
}

/**
 * The job's record without secrets, from its region or, when that is unknown, from the first region that has it. The job is `unknown` only
 * when every region says so, because a region that did not answer may have it.
 */
export async function findServiceRecord(
  source: RecordSource,
  jobId: string,
  region: string | null,
): Promise<ServiceLookup> {
  const regions = region !== null && source.regions.includes(region) ? [region] : source.regions;
  if (regions.length === 0) return { service: null, serviceAnswer: 'not-configured' };
  const signal = AbortSignal.timeout(source.within);
  const timedOut = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const asked = regions.map(async (name) => ({
    region: name,
    record: redact(await source.record(name, jobId, signal)) as Record<string, unknown>,
  }));
  return Promise.race([Promise.any(asked), timedOut]).then(
    (service): ServiceLookup => ({ service, serviceAnswer: 'found' }),
    (error: unknown): ServiceLookup => ({ service: null, serviceAnswer: answerOf(error) }),
  );
}

function answerOf(error: unknown): Job['serviceAnswer'] {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  if (errors.every(isUnknownJob)) return 'unknown';
  return errors.every(isNotConfigured) ? 'not-configured' : 'unreachable';
}

const REDACTED = '[redacted]';

/** Removes secrets: values of authentication headers, keys, and credentials and queries in URLs. */
export function redact(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((entry) => redact(entry, name));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, redact(entry, key)]));
  }
  if (typeof value !== 'string') return value;
  if (/auth_?headers?$/i.test(name)) return redactHeaderLine(value);
  if (/^(authorization|token|secret|password|api_?key|key_value)$/i.test(name)) return REDACTED;
  return redactAddresses(value);
}

/** Keeps the name of a header line; a text without one may be a secret as a whole. */
function redactHeaderLine(line: string): string {
  const name = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):/.exec(line)?.[1];
  return name === undefined ? REDACTED : `${name}: ${REDACTED}`;
}

/**
 * Matches addresses in a text: everything after two slashes or backslashes, which browsers and clients treat alike, up to white space.
 */
const ADDRESS = /(?:\b[a-z][a-z0-9+.-]*:)?[\\/]{2}\S+/gi;

function redactAddresses(text: string): string {
  return text.replace(ADDRESS, redactAddress);
}

/** Removes the query, which is the secret of pre-signed URLs, and user and password. Redacts the whole address if it does not parse. */
function redactAddress(address: string): string {
  const relative = /^[\\/]/.test(address);
  if (!URL.canParse(address, 'https://base.invalid')) return REDACTED;
  const { protocol, username, password, host, port, pathname, search, hash } = new URL(
    address,
    'https://base.invalid',
  );
  const hasUser = username !== '' || password !== '';
  // A slash in a password ends the host early, so that the rest of it is in the path.
  if ((hasUser || port !== '') && pathname.includes('@')) return REDACTED;
  const hasQuery = search !== '' || hash !== '';
  if (!hasUser && !hasQuery) return address;
  const user = hasUser ? `${REDACTED}@` : '';
  return `${relative ? '' : protocol}//${user}${host}${pathname}${hasQuery ? `?${REDACTED}` : ''}`;
}
