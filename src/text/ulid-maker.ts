import { randomFillSync } from 'node:crypto';

/** Crockford's base 32. */
const ALPHABET = Buffer.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 'latin1');
const TIME_LENGTH = 10;
const LENGTH = 26;

/** Random bytes are drawn in bulk: a few at a time cost more than the rest of an id. */
const POOL = Buffer.allocUnsafe(4096);
let used = POOL.length;

/** In [0, 32). */
function randomDigit(): number {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  return (POOL[used++] ?? 0) & 31;
}

/**
 * Makes ids that sort by time and, within one process, by call; each maker has its own sequence (https://github.com/ulid/spec,
 * "Monotonicity"). The library of that name makes a text for every character.
 */
export function ulidMaker(): (now?: number) => string {
  const digits = new Uint8Array(LENGTH);
  const text = Buffer.alloc(LENGTH);
  let latest = Number.NEGATIVE_INFINITY;

  function begin(milliseconds: number): void {
    latest = milliseconds;
    let rest = milliseconds;
    for (let at = TIME_LENGTH - 1; at >= 0; at -= 1) {
      digits[at] = rest % 32;
      rest = Math.floor(rest / 32);
    }
    for (let at = TIME_LENGTH; at < LENGTH; at += 1) digits[at] = randomDigit();
  }

  /** An overflow of the random part, once in 2^80 ids, would go on into the time. */
  function increment(): void {
    let at = LENGTH - 1;
    while (digits[at] === 31) digits[at--] = 0;
    digits[at] = (digits[at] ?? 0) + 1;
  }

  return (now = Date.now()) => {
    if (now > latest) begin(now);
    else increment();
    for (let at = 0; at < LENGTH; at += 1) text[at] = ALPHABET[digits[at] ?? 0] ?? 0;
    return text.toString('latin1');
  };
}
