import { parseHeaderLine } from '../lib/text/header-line.js';
import { parseRange } from '../lib/text/ip-address.js';
import { readStoreLocation } from '../lib/text/store-location.js';
import { readInstant } from '../lib/time/instant.js';
import { leaf, Mismatch } from './setting.js';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.js';

/** The types of settings. Each reads values from YAML, JSON and environment variables, which are always text. */

export function size(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range =
    max === Number.MAX_SAFE_INTEGER
      ? `of at least ${formatSize(min)}`
      : `from ${formatSize(min)} to ${formatSize(max)}`;
  return leaf(`a size ${range}, such as 64MiB or a number of bytes`, (input) =>
    within(parseSize(input), min, max),
  );
}

/** Timers of Node hold 31 bits of milliseconds; anything longer would fire at once. */
const LONGEST_TIMER = 24 * 86_400_000;

export function duration(min: number, max: number = LONGEST_TIMER) {
  return leaf(
    `a duration from ${formatDuration(min)} to ${formatDuration(max)}, such as 30s or a number of milliseconds`,
    (input) => within(parseDuration(input), min, max),
  );
}

export function durationOrOff(min: number) {
  return leaf<number | null>(
    `off, or a duration from ${formatDuration(min)} to ${formatDuration(LONGEST_TIMER)}, such as 10m`,
    (input) => (input === 'off' || input === false ? null : within(parseDuration(input), min, LONGEST_TIMER)),
  );
}

export function durationOrForever(min: number, max: number) {
  return leaf<number | null>(
    `forever, or a duration from ${formatDuration(min)} to ${formatDuration(max)}, such as 30d`,
    (input) => (input === 'forever' ? null : within(parseDuration(input), min, max)),
  );
}

export function count(min: number, max: number) {
  return leaf(`a whole number from ${min} to ${max}`, (input) => {
    const value = typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input;
    return typeof value === 'number' && Number.isInteger(value) ? within(value, min, max) : undefined;
  });
}

export function flag() {
  return leaf('true or false', (input) => {
    if (input === true || input === 'true') return true;
    return input === false || input === 'false' ? false : undefined;
  });
}

export function oneOf<const T extends string>(values: readonly T[]) {
  return leaf(`one of ${values.join(', ')}`, (input) => values.find((value) => value === String(input)));
}

export function text(pattern: RegExp, expected: string) {
  return leaf(expected, (input) => (typeof input === 'string' && pattern.test(input) ? input : undefined));
}

/** An AWS account id. YAML reads digits without quotes as a number, which has no leading zeros. */
export function accountId() {
  return leaf('an AWS account id: 12 digits, in quotes', (input) => {
    const text = typeof input === 'number' ? String(input) : input;
    return typeof text === 'string' && /^\d{12}$/.test(text) ? text : undefined;
  });
}

/** An address to listen on; empty for every address of both families, as Node listens without a host. */
export function host() {
  return text(
    /^[A-Za-z0-9.:_-]{0,255}$/,
    'an IP address or host name to listen on, or an empty text for all',
  );
}

/** A host name as a client sends it, without a port. */
export function hostName() {
  return text(/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/, 'a host name without a port');
}

/** An absolute address without credentials; a trailing slash is dropped so that paths can be appended. */
export function url<const P extends string>(protocols: readonly P[]) {
  const expected = `an absolute address beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return leaf(expected, (input) => {
    if (typeof input !== 'string' || !URL.canParse(input)) return undefined;
    const parsed = new URL(input);
    if (!(protocols as readonly string[]).includes(parsed.protocol)) return undefined;
    if (parsed.username !== '' || parsed.password !== '')
      return new Mismatch('an address without user name and password');
    if (parsed.search !== '' || parsed.hash !== '')
      return new Mismatch('an address without query and fragment');
    return parsed.href.replace(/\/+$/, '');
  });
}

/** Address to which events are posted. Path and query may hold a token, so no message shows it. */
export function webhookUrl() {
  return leaf('an absolute address beginning with https:// or http://', (input) => {
    if (typeof input !== 'string' || !URL.canParse(input)) return undefined;
    const parsed = new URL(input);
    if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return undefined;
    if (parsed.username !== '' || parsed.password !== '')
      return new Mismatch(
        'an address without user name and password: the signature authenticates the sender',
      );
    if (parsed.hash !== '') return new Mismatch('an address without fragment');
    return parsed.href;
  });
}

/** A secret of Standard Webhooks, kept as written. Source: its specification, "Signature scheme". */
export function webhookSecret() {
  const expected =
    '"whsec_" followed by base64 of 24 to 64 bytes; echo "whsec_$(openssl rand -base64 32)" makes one';
  return leaf(expected, (input) => {
    if (typeof input !== 'string') return undefined;
    const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(input) ?? [];
    if (encoded === undefined) return undefined;
    const key = Buffer.from(encoded, 'base64');
    const isWhole = key.toString('base64').replace(/=+$/, '') === encoded.replace(/=+$/, '');
    return isWhole && key.length >= 24 && key.length <= 64 ? input : undefined;
  });
}

/** A path on the service with `{id}` standing for the job id where one is needed. */
export function pathTemplate(withId: boolean) {
  const expected = withId ? 'a path that begins with / and holds {id}' : 'a path that begins with /';
  return leaf(expected, (input) =>
    typeof input === 'string' && /^\/[^\s?#\\]*$/.test(input) && (!withId || input.includes('{id}'))
      ? input
      : undefined,
  );
}

/** Location of the archive, kept as written because the store opens it in this form. */
export function storeUrl() {
  return leaf('file:<directory> or s3://<bucket>/<prefix>', (input) => {
    if (typeof input !== 'string') return undefined;
    const read = readStoreLocation(input);
    return 'fault' in read ? new Mismatch(read.fault) : input;
  });
}

/** A CIDR or address, in canonical CIDR form. */
export function range() {
  return leaf('an address or CIDR', (input) => {
    if (typeof input !== 'string') return undefined;
    const parsed = parseRange(input);
    return 'fault' in parsed ? new Mismatch(`an address or CIDR (${parsed.fault})`) : parsed.cidr;
  });
}

/** A CIDR or address of proxies. Rejects the whole internet: a trusted proxy can claim any client address. */
export function proxyRange() {
  return leaf('an address or CIDR', (input) => {
    if (typeof input !== 'string') return undefined;
    const parsed = parseRange(input);
    if ('fault' in parsed) return new Mismatch(`an address or CIDR (${parsed.fault})`);
    if (!parsed.cidr.endsWith('/0')) return parsed.cidr;
    return new Mismatch(
      'the addresses of your balancers: a range of prefix 0 trusts the X-Forwarded-For of every client',
    );
  });
}

/** `<Header-Name>: <value>`, kept as written: it is also what `notification-config` prints. */
export function headerLine() {
  return leaf('a header line of the form "<Header-Name>: <value>"', (input) => {
    if (typeof input !== 'string') return undefined;
    const parsed = parseHeaderLine(input);
    return 'fault' in parsed ? new Mismatch(`another header line: ${parsed.fault}`) : input;
  });
}

/** An ISO 8601 instant or date (midnight UTC), as milliseconds since 1970. */
export function instant() {
  return leaf('a time such as 2026-01-31T00:00:00Z', (input) => {
    const written = input instanceof Date ? input.toISOString() : input;
    return typeof written === 'string' ? (readInstant(written) ?? undefined) : undefined;
  });
}

const RESERVED_SEGMENTS = new Set([
  'jobs',
  'ledger',
  'ledger-hours',
  'outbox',
  'quarantine',
  'replays',
  'reports',
]);

/** Folders in front of a source's jobs: empty, or ending in `/`, which is added when it is missing. */
export function keyPrefix() {
  return leaf("a key prefix such as team-a/ (letters, digits and !_.*'()- in segments)", (input) => {
    if (input === '') return '';
    if (typeof input !== 'string' || input.length > 255) return undefined;
    const segments = input.replace(/\/$/, '').split('/');
    if (!segments.every((segment) => /^[A-Za-z0-9!_*'()-][A-Za-z0-9!_.*'()-]*$/.test(segment)))
      return undefined;
    const reserved = segments.find((segment) => RESERVED_SEGMENTS.has(segment));
    if (reserved !== undefined)
      return new Mismatch(
        `a key prefix without the segment ${reserved}, which the store's layout uses itself`,
      );
    return `${segments.join('/')}/`;
  });
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}
