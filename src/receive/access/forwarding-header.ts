import type { RequestHeaders } from '../callback-request.js';

/** Headers that proxies and browsers add; the speech service sends none of them. */
const FORWARDING_HEADERS: readonly (readonly [label: string, name: RegExp])[] = [
  ['Forwarded', /^forwarded(?:-for)?$/],
  ['X-Forwarded-*', /^x-(?:original-)?forwarded\b/],
  ['Via', /^via$/],
  // X-Real-IP, True-Client-IP, CF-Connecting-IP, Fastly-Client-IP, X-Cluster-Client-IP, X-Azure-SocketIP, X-Appengine-User-IP,
  // X-Remote-Addr.
  [
    'a header of the client address',
    /(?:^|-)(?:real|client|connecting|remote|socket|user)-?(?:ip|ipv6|addr|address)$/,
  ],
  ['a header of the client address', /^x-envoy-external-address$/],
  // An AWS load balancer and CloudFront, Google's load balancer, Cloudflare, and any CDN (RFC 8586).
  ['a header of a load balancer', /^(?:x-amzn-trace-id|x-amz-cf-id|x-cloud-trace-context|cf-ray|cdn-loop)$/],
  ['Origin', /^origin$/],
  ['Sec-Fetch-*', /^sec-fetch-/],
];

/**
 * Finds a header which shows that a request was forwarded or comes from a web page, and returns its kind or null. Ignores
 * `Sec-Fetch-Mode: cors`, which Node's fetch sends; a browser always sends `Sec-Fetch-Site` with it.
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
