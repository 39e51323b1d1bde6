import type { IncomingMessage } from 'node:http';
import type { RequestHeaders } from '../request-headers.js';

/**
 * What `headersDistinct` should give. Some releases of Node (CVE-2026-21710) throw there when a header is called
 * `__proto__`, so that any sender could cause a 500; here such a header is one like all others.
 */
export function distinctHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): RequestHeaders {
  const headers: Record<string, string[]> = Object.create(null);
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const value = rawHeaders[at + 1] as string;
    const known = headers[name];
    if (known === undefined) headers[name] = [value];
    else known.push(value);
  }
  return headers;
}
