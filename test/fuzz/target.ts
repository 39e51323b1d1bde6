import type { Random } from '../support/random.js';

/** One thing to throw bytes at. */
export interface FuzzTarget {
  readonly name: string;
  /** Makes up one case; the same random stream makes the same case. */
  make(random: Random): FuzzCase;
  /** What is wrong with how the case was treated, in words; null when nothing is. */
  judge(one: FuzzCase): Promise<string | null>;
}

/** A case as it can be kept in a file: bytes, and what goes with them. */
export interface FuzzCase {
  readonly bytes: Buffer;
  readonly details: Readonly<Record<string, string | number | readonly number[]>>;
}
