import { CONTENT_TOKENS, checkOf, kindOfToken } from '../../domain/kinds.js';
import { parseHeaderLine } from '../../lib/text/header-line.js';
import { MAX_NOTIFICATIONS, type NotificationConfig } from '../wire.js';

/** One callback a job shall send to a source. */
export interface NotificationRequest {
  /** Address of the source, `https://…/callbacks/<source>`. */
  readonly url: string;
  /** Complete header lines of one credential; empty for a source without credentials. */
  readonly headers: readonly string[];
  readonly contents: readonly string[];
  readonly method?: 'POST' | 'PUT';
}

/**
 * The entries to put into a job's `notification_config`, as docs/service-interface.md describes them. The body of a lone text does
 * not say which text it is, so the address does, in its `contents` parameter.
 */
export function buildNotificationConfig(requests: readonly NotificationRequest[]): NotificationConfig[] {
  return requests.map(({ url, headers, contents, method }) => ({
    url: withContentsHint(url, contents),
    ...(headers.length > 0 ? { auth_headers: [...headers] } : {}),
    contents: [...contents],
    ...(method === undefined ? {} : { method }),
  }));
}

function withContentsHint(url: string, contents: readonly string[]): string {
  const [only] = contents;
  if (contents.length !== 1 || only === undefined || !isText(only)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}contents=${encodeURIComponent(only)}`;
}

/** Contents that a lone body sends as plain text. */
function isText(token: string): boolean {
  const kind = kindOfToken(token);
  return kind !== null && checkOf(kind) === 'text';
}

/** Every fault of a `notification_config` by the service's rules (docs/service-interface.md) and ours; empty when valid. */
export function notificationFaults(entries: readonly NotificationConfig[]): string[] {
  const faults: string[] = [];
  if (entries.length === 0) faults.push('there is no entry');
  if (entries.length > MAX_NOTIFICATIONS) {
    faults.push(`there are ${entries.length} entries, but a job takes at most ${MAX_NOTIFICATIONS}`);
  }
  for (const [index, entry] of entries.entries()) {
    faults.push(...entryFaults(entry).map((fault) => `entry ${index + 1}: ${fault}`));
  }
  return faults;
}

function entryFaults(entry: NotificationConfig): string[] {
  return [
    ...urlFaults(entry.url),
    ...headerFaults(entry.auth_headers ?? []),
    ...contentFaults(entry.contents ?? []),
    ...methodFaults(entry.method ?? 'POST'),
  ];
}

function urlFaults(text: string): string[] {
  if (!URL.canParse(text)) return ['url is not an absolute address'];
  const url = new URL(text);
  const faults: string[] = [];
  if (!['http:', 'https:'].includes(url.protocol)) faults.push('url does not begin with http:// or https://');
  // The delivery errors of a job show the whole address to everyone who can read the job.
  if (url.username !== '' || url.password !== '') faults.push('url holds a password; use auth_headers');
  if (url.hash !== '') faults.push('url has a fragment, which is never sent');
  for (const name of ['id', 'status']) {
    if (url.searchParams.has(name))
      faults.push(`url already has the parameter ${name}, which the service appends`);
  }
  return faults;
}

function headerFaults(lines: readonly string[]): string[] {
  const names = new Set<string>();
  return lines.flatMap((line, index) => {
    const parsed = parseHeaderLine(line);
    if ('fault' in parsed) return [`auth_headers ${index + 1}: ${parsed.fault}`];
    if (names.has(parsed.name)) return [`auth_headers ${index + 1}: the header ${parsed.name} occurs twice`];
    names.add(parsed.name);
    return [];
  });
}

function contentFaults(contents: readonly string[]): string[] {
  const faults = contents
    .filter((token) => !(CONTENT_TOKENS as readonly string[]).includes(token))
    .map((token) => `contents holds ${JSON.stringify(token)}; known are ${CONTENT_TOKENS.join(', ')}`);
  const repeated = contents.find((token, index) => contents.indexOf(token) !== index);
  return repeated === undefined ? faults : [...faults, `contents holds ${JSON.stringify(repeated)} twice`];
}

/** The public specification writes the method in lower case, the service's specification in upper case. */
function methodFaults(method: string): string[] {
  return ['POST', 'PUT'].includes(method.toUpperCase())
    ? []
    : [`method ${JSON.stringify(method)} is not POST or PUT`];
}
