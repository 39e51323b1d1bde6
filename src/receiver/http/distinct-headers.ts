import type { IncomingMessage } from 'node:http';
import type { RequestHeaders } from '../request-headers.js';

/** Inherits nothing, like an object of `Object.create(null)`, which V8 keeps as a hash table of nearly twice the size. */
class Headers {
  [name: string]: string[];
}
Object.setPrototypeOf(Headers.prototype, null);
Reflect.deleteProperty(Headers.prototype, 'constructor');

/**
 * Like Node's `headersDistinct`, which throws in some releases (CVE-2026-21710) for a header named `__proto__`, so that any
 * sender could cause a 500. Here it is a header like any other.
 */
export function distinctHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): RequestHeaders {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const value = rawHeaders[at + 1] as string;
    const known = headers[name];
    if (known === undefined) headers[name] = [value];
    else known.push(value);
  }
  return headers;
}
