import { scrypt } from 'node:crypto';

/**
 * Keys that tickets are signed with, one per admin token. A ticket is handed out in addresses, and whoever finds one can try
 * tokens against it far from here: so each try has to be expensive. The key is derived and not random, because every replica
 * has to know it.
 */
export interface TicketKeys {
  /** The key of a configured token by its name; derived once, when it is first needed. */
  of(name: string): Promise<Buffer>;
}

export type DeriveKey = (token: string, name: string) => Promise<Buffer>;

/** Derives one key at a time: each takes 32 MiB while it lasts. */
export function createTicketKeys(
  tokens: Readonly<Record<string, string>>,
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
      const key = last.then(() => derive(token, name));
      last = key.catch(() => {});
      keys.set(name, key);
      return key;
    },
  };
}

/** 32 MiB and about a tenth of a second: some ten tries a second and core, where a plain hash allows millions. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };

function deriveByScrypt(token: string, name: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(token, `transcript-receiver artefact ticket of ${name}`, 32, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
