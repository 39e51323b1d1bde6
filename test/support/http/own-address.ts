import { randomInt } from 'node:crypto';

/**
 * A loopback address that no other test has: a port of it stays free while nobody listens there, also beside other workers that open
 * ports. Linux has all of 127.0.0.0/8; elsewhere it is the usual address.
 */
export function ownAddress(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
}
