import { hash } from 'node:crypto';

/** Remembers which objects were claimed, and with which content, in bounded memory. */
export interface ClaimMemory {
  /**
   * `new` for a key that is not remembered, `repeated` when it was claimed with the same content, `different` when it
   * was claimed with other content.
   */
  add(key: string, content: string): 'new' | 'repeated' | 'different';
  /** False once a key has been forgotten, so that it may be `new` again. */
  readonly exact: boolean;
}

/** 32 bytes each, so 32 MiB per generation. The last one to two million keys are remembered. */
const KEYS_PER_GENERATION = 2 ** 20;

/**
 * Two generations of keys: when the younger one is full, the older one is forgotten. Repetitions come close together:
 * retries of a callback within minutes, recoveries within days. The order of calls alone decides what is forgotten, so
 * that the same ledger gives the same result again.
 */
export function createClaimMemory(keysPerGeneration = KEYS_PER_GENERATION): ClaimMemory {
  let young = new FingerprintTable();
  let old = new FingerprintTable();
  let exact = true;
  return {
    add(key, content) {
      const fingerprint = hash('sha256', key, 'buffer');
      const claimed = hash('sha256', content, 'buffer').readUInt32LE();
      const known = young.get(fingerprint) ?? old.get(fingerprint);
      if (known !== undefined) return known === claimed ? 'repeated' : 'different';
      if (young.size === keysPerGeneration) {
        exact &&= old.size === 0;
        old = young;
        young = new FingerprintTable();
      }
      young.set(fingerprint, claimed);
      return 'new';
    },
    get exact() {
      return exact;
    },
  };
}

/** 96 bits of the key's hash and 32 of the content's. Among a million keys two share 96 bits once in 10^17 runs. */
const WORDS = 4;
const FIRST_SLOTS = 1024;

/** Open addressing over typed arrays: a `Map` of strings would take five times the memory. */
class FingerprintTable {
  #slots = FIRST_SLOTS;
  #words = new Uint32Array(FIRST_SLOTS * WORDS);
  size = 0;

  get(fingerprint: Buffer): number | undefined {
    const at = this.#find(
      fingerprint.readUInt32LE(0),
      fingerprint.readUInt32LE(4),
      fingerprint.readUInt32LE(8),
    );
    return this.#isFree(at) ? undefined : this.#words[at + 3];
  }

  set(fingerprint: Buffer, value: number): void {
    if (this.size * 2 === this.#slots) this.#grow();
    this.#put(fingerprint.readUInt32LE(0), fingerprint.readUInt32LE(4), fingerprint.readUInt32LE(8), value);
    this.size += 1;
  }

  #put(a: number, b: number, c: number, value: number): void {
    this.#words.set([a, b, c, value], this.#find(a, b, c));
  }

  /** Index of the first word of the key's slot, or of the free slot where it belongs. */
  #find(a: number, b: number, c: number): number {
    const words = this.#words;
    for (let slot = a & (this.#slots - 1); ; slot = (slot + 1) & (this.#slots - 1)) {
      const at = slot * WORDS;
      if (this.#isFree(at) || (words[at] === a && words[at + 1] === b && words[at + 2] === c)) return at;
    }
  }

  #isFree(at: number): boolean {
    const words = this.#words;
    return words[at] === 0 && words[at + 1] === 0 && words[at + 2] === 0;
  }

  #grow(): void {
    const before = this.#words;
    this.#slots *= 2;
    this.#words = new Uint32Array(this.#slots * WORDS);
    for (let at = 0; at < before.length; at += WORDS) {
      const [a = 0, b = 0, c = 0, value = 0] = before.subarray(at, at + WORDS);
      if (a !== 0 || b !== 0 || c !== 0) this.#put(a, b, c, value);
    }
  }
}
