import { isIP } from 'node:net';
import { normaliseAddress } from '../../lib/text/ip-address.js';

/** Whether a server that listens on `host` is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const address = normaliseAddress(host);
  return address !== null && (isIP(address) === 4 ? address.startsWith('127.') : address === '::1');
}
