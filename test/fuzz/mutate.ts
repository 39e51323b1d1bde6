import type { Random } from '../support/random.js';

/** Changes a few places the way senders, proxies and attackers do: bits, cuts, doublings, inserted tokens. */
export function mutate(random: Random, bytes: Buffer, tokens: readonly [string, ...string[]]): Buffer {
  let mutated: Buffer = Buffer.from(bytes);
  for (let changes = random.whole(0, 4); changes > 0; changes -= 1) mutated = change(random, mutated, tokens);
  return mutated;
}

function change(random: Random, bytes: Buffer, tokens: readonly [string, ...string[]]): Buffer {
  const at = random.whole(0, bytes.length);
  const to = Math.min(bytes.length, at + random.whole(0, 12));
  switch (random.whole(0, 6)) {
    case 0: {
      if (bytes.length === 0) return bytes;
      const flipped = Buffer.from(bytes);
      flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ (1 << random.whole(0, 7));
      return flipped;
    }
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    case 2:
      return bytes.subarray(0, at);
    case 3:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), random.bytes(random.whole(1, 6)), bytes.subarray(to)]);
    default:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(random.pick(tokens), 'latin1'),
        bytes.subarray(at),
      ]);
  }
}

/** Sizes of the chunks that a body comes in. */
export function chunkSizes(random: Random): number[] {
  if (random.chance(0.3)) return [];
  return Array.from({ length: random.whole(1, 3) }, () => random.pick([1, 2, 3, 7, 16, 61, 4096]));
}
