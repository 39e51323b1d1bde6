import { Problem } from '../../domain/problem.js';
import { writeInstant } from '../../lib/time/instant.js';
import { USUAL_DELAY } from '../index-extent.js';
import type { IndexRange } from '../index-state.js';

/** Throws `Problem` `conflict` where the index does not have all lines that were written in a time, in milliseconds since the epoch. */
export function rejectBeyond(index: IndexRange, since: number, until: number): void {
  if (index.until === null) throw beyond('nothing yet', `begins at ${writeInstant(since)}`);
  if (index.since !== null && index.since > since)
    throw beyond(
      `what was written from ${writeInstant(index.since)} on`,
      `begins at ${writeInstant(since)}: choose a later since`,
    );
  if (until - index.until > USUAL_DELAY)
    throw beyond(
      `what was written until ${writeInstant(index.until)}`,
      `ends at ${writeInstant(until)}: choose an earlier until`,
    );
}

function beyond(has: string, asked: string): Problem {
  return new Problem(
    'conflict',
    `The index of the ledger has ${has}, and the selection ${asked}, or wait until the index has it.`,
  );
}
