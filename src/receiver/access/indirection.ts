import type { RequestHeaders } from '../request-headers.js';

/** Headers that a hop between the service and us or a web page adds; the service itself sends none of them. */
const TELLTALES: readonly (readonly [label: string, name: RegExp])[] = [
  ['Forwarded', /^forwarded$/],
  ['X-Forwarded-*', /^x-forwarded\b/],
  ['Via', /^via$/],
  ['Origin', /^origin$/],
  ['Sec-Fetch-*', /^sec-fetch-/],
];

/**
 * The kind of header that says a request was forwarded or comes from a page; null when there is none. Node's own fetch
 * sends `Sec-Fetch-Mode: cors` and nothing else of these; a browser always sends `Sec-Fetch-Site` beside it.
 */
export function indirection(headers: RequestHeaders): string | null {
  for (const name of Object.keys(headers)) {
    const [label] = TELLTALES.find(([, pattern]) => pattern.test(name)) ?? [];
    if (label !== undefined && !isOfNode(name, headers[name])) return label;
  }
  return null;
}

function isOfNode(name: string, values: readonly string[] = []): boolean {
  return name === 'sec-fetch-mode' && values.every((value) => value === 'cors');
}
