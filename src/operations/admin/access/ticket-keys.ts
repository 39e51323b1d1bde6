import { scrypt } from 'node:crypto';
import type { AdminToken } from './access.js';

/**
 * Keys that tickets are signed with, one per admin token. Tickets are part of URLs, and one that leaks can be used to guess the
 * token offline: so each guess has to be expensive. The key is derived instead of random, because every replica needs the
 * same one.
 */
export interface TicketKeys {
  /** The key of a configured token, by the token's name; derived once, at first use. */
  of(name: string): Promise<Buffer>;
}

export type DeriveKey = (token: string, name: string) => Promise<Buffer>;

/** Derives one key at a time: each derivation takes 32 MiB. */
export function createTicketKeys(
  tokens: Readonly<Record<string, Pick<AdminToken, 'token'>>>,
  derive: DeriveKey = deriveByScrypt,
): TicketKeys {
  const keys = new Map<string, Promise<Buffer>>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    of(name) {
      const known = keys.get(name);
      if (known !== undefined) return known;
      const token = Object.hasOwn(tokens, name) ? tokens[name] : undefined;
      if (token === undefined) return Promise.reject(new Error(`there is no token ${name}`));
      const key = last.then(() => derive(token.token, name));
      last = key.catch(() => {});
      keys.set(name, key);
      return key;
    },
  };
}

/** 32 MiB and about 100 ms: some ten guesses a second and core; a plain hash allows millions. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };

function deriveByScrypt(token: string, name: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(token, `transcript-receiver artefact ticket of ${name}`, 32, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
