import { hash } from 'node:crypto';

/** Some 100 bytes each. One full and one growing generation are kept. */
const KEYS_PER_GENERATION = 2 ** 18;

/**
 * Remembers which objects were claimed, and with which content, in two generations of keys: when the young one is full, the old one is
 * forgotten. Repeated claims come close together: retries of a callback within minutes, recoveries within days. Only the order of calls
 * determines what is forgotten, so that the same ledger always gives the same result.
 */
export function createClaimMemory(keysPerGeneration = KEYS_PER_GENERATION) {
  let young = new Map<string, number>();
  let old = new Map<string, number>();
  return {
    /**
     * `new` for a key that is not remembered, `repeated` when it was claimed with the same content, `different` when it was claimed with
     * other content.
     */
    add(key: string, content: string): 'new' | 'repeated' | 'different' {
      const fingerprint = fingerprintOf(key);
      const claimed = hash('sha256', content, 'buffer').readUInt32LE();
      const known = young.get(fingerprint) ?? old.get(fingerprint);
      if (known !== undefined) return known === claimed ? 'repeated' : 'different';
      if (young.size === keysPerGeneration) {
        old = young;
        young = new Map();
      }
      young.set(fingerprint, claimed);
      return 'new';
    },
  };
}

/** 96 bits: among a million keys two share them once in 10^17 runs. */
function fingerprintOf(key: string): string {
  return hash('sha256', key, 'buffer').toString('latin1', 0, 12);
}
