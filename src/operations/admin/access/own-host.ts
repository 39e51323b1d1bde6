import { isIP } from 'node:net';

/** Suffixes that are never registered on the internet: RFC 6761, RFC 6762, ICANN's `.internal`, Kubernetes' `.svc`. */
const INTERNAL_NAMES = /\.(?:localhost|local|internal|svc)$/;

/**
 * Whether a Host header is one that DNS rebinding cannot produce: an address, a name without a dot, a name of an internal
 * network, or one of `names`. A page whose domain was made to resolve to this machine sends its own domain. This protects
 * against browsers only; other clients can send any Host.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[([^\]]*)\]$/, '$1')
    .replace(/\.$/, '');
  if (isIP(name) !== 0 || /^[a-z0-9_-]+$/.test(name) || INTERNAL_NAMES.test(name)) return true;
  return names.some((own) => own.toLowerCase() === name);
}
