/** A stream of numbers that a seed repeats (mulberry32). */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  chance(share: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
  bytes(length: number): Buffer;
}

/** `name` separates streams of one seed, so that one consumer does not change the numbers of another. */
export function createRandom(seed: number, name: string): Random {
  let state = [...name].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, seed | 0);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    whole,
    chance: (share) => next() < share,
    pick: (choices) => choices[whole(0, choices.length - 1)] ?? choices[0],
    bytes(length) {
      const words = new Uint32Array(Math.ceil(length / 4));
      for (let index = 0; index < words.length; index += 1) {
        state = (Math.imul(state, 1664525) + 1013904223) | 0;
        words[index] = state ^ (state >>> 16);
      }
      return Buffer.from(words.buffer, 0, length);
    },
  };
}
