import type { RequestHeaders } from '../request-headers.js';

/** Headers that proxies and browsers add; the speech service sends none of them. */
const FORWARDING_HEADERS: readonly (readonly [label: string, name: RegExp])[] = [
  ['Forwarded', /^forwarded$/],
  ['X-Forwarded-*', /^x-forwarded\b/],
  ['Via', /^via$/],
  ['Origin', /^origin$/],
  ['Sec-Fetch-*', /^sec-fetch-/],
];

/**
 * Finds a header which shows that a request was forwarded or comes from a web page, and returns its kind or null. Of these
 * headers Node's fetch sends only `Sec-Fetch-Mode: cors`; a browser always sends `Sec-Fetch-Site` with it.
 */
export function forwardingHeader(headers: RequestHeaders): string | null {
  for (const name of Object.keys(headers)) {
    const [label] = FORWARDING_HEADERS.find(([, pattern]) => pattern.test(name)) ?? [];
    if (label !== undefined && !isFromNode(name, headers[name])) return label;
  }
  return null;
}

function isFromNode(name: string, values: readonly string[] = []): boolean {
  return name === 'sec-fetch-mode' && values.every((value) => value === 'cors');
}
