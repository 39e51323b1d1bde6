import { isIP } from 'node:net';

/** Names below these are never anybody's on the internet: RFC 6761, RFC 6762, and what ICANN and Kubernetes keep inside. */
const INNER_NAMES = /\.(?:localhost|local|internal|svc)$/;

/**
 * Whether a Host header names this machine in a way that no page on the internet can bring a browser to: an address, a
 * name without a dot, a name of inner networks, or one of `names`. A page whose own name was made to resolve to us (DNS
 * rebinding) sends that name. Nothing is said about clients that are no browsers: they send what they like.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[([^\]]*)\]$/, '$1')
    .replace(/\.$/, '');
  if (isIP(name) !== 0 || /^[a-z0-9_-]+$/.test(name) || INNER_NAMES.test(name)) return true;
  return names.some((own) => own.toLowerCase() === name);
}
