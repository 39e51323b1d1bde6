import type { Ledger } from '../archive/ledger/ledger.js';
import { BodyTooLargeError } from '../content/decode-error.js';
import { asProblem, Problem } from '../domain/problem.js';
import { StoreError } from '../store/object-store.js';
import { atMost } from '../time/at-most.js';
import { type Arrival, ledgerLine } from './arrival.js';
import { BodyAbortedError } from './http/request-body.js';
import type { ReceiverObserver } from './receive.js';

/** Why a delivery was not taken: something to tell its sender, or that the sender is gone. */
export type Refusal = Problem | BodyAbortedError;

/** Milliseconds that an answer waits for the ledger line of a refusal. */
const LINE_WAIT = 1000;

/**
 * Our own trouble is never the sender's fault: what the store cannot do now is 503, so that the sender comes again.
 */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof BodyAbortedError) return error;
  if (error instanceof StoreError) {
    const { retryAfterMs } = error;
    const detail = 'The store cannot take it now; send it again.';
    return new Problem('store-unavailable', detail, { cause: error, retryAfterMs });
  }
  if (error instanceof BodyTooLargeError) {
    return new Problem('body-too-large', `This source accepts up to ${error.limit} decoded bytes.`);
  }
  return asProblem(error);
}

/**
 * Writes the ledger line of an authenticated refusal. The answer waits for it a moment when the sender was at
 * fault, and not at all when we are in trouble: it does not hang on the line.
 */
export async function recordRefusal(
  { ledger, observer }: { readonly ledger: Ledger; readonly observer: ReceiverObserver },
  arrival: Arrival,
  refusal: Refusal,
): Promise<void> {
  const problem = refusal instanceof Problem ? refusal : null;
  const reason = problem?.code ?? 'body-incomplete';
  const line = ledgerLine(arrival, { outcome: 'refused', reason, items: [] });
  observer.delivered(line, arrival.spent, problem);
  const writing = ledger.append(line).catch((failure: unknown) => observer.refusalUnrecorded(line, failure));
  if (problem === null || problem.status < 500) await atMost(LINE_WAIT, writing);
}
