import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** Random bytes are drawn in bulk: the library's one at a time costs more than the rest of an id. */
const POOL = Buffer.allocUnsafe(4096);
let used = POOL.length;

function random(): number {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  // The library wants a fraction below 1 to pick one of 32 characters; 8 bits are plenty for 5.
  return (POOL[used++] ?? 0) / 256;
}

/** Makes ids that sort by time and, within one process, by call; each maker has its own sequence. */
export function ulidMaker(): (now?: number) => string {
  return monotonicFactory(random);
}
