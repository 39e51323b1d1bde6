import { Problem } from '../../domain/problem.js';
import { USUAL_DELAY } from '../index-extent.js';
import type { IndexRange } from '../index-state.js';

/** Throws `Problem` `conflict` where the index does not have all lines that were written in a time, in milliseconds since the epoch. */
export function rejectBeyond(index: IndexRange, since: number, until: number): void {
  if (index.until === null) throw beyond('nothing yet', `begins at ${iso(since)}`);
  if (index.since !== null && index.since > since)
    throw beyond(
      `what was written from ${iso(index.since)} on`,
      `begins at ${iso(since)}: choose a later since`,
    );
  if (until - index.until > USUAL_DELAY)
    throw beyond(
      `what was written until ${iso(index.until)}`,
      `ends at ${iso(until)}: choose an earlier until`,
    );
}

function beyond(has: string, asked: string): Problem {
  return new Problem(
    'conflict',
    `The index of the ledger has ${has}, and the selection ${asked}, or wait until the index has it.`,
  );
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
