import { BodyTooLargeError, EncodingRefusedError } from '../content/decode-error.js';
import { asProblem, Problem } from '../domain/problem.js';
import { BodyAbortedError } from '../http/request-body.js';
import { StoreError } from '../store/object-store.js';
import { conditionOf } from '../store/store-condition.js';

/** Why a delivery was refused: a problem to respond with, or that its sender is gone. */
export type DeliveryRefusal = Problem | BodyAbortedError;

/** Maps an error to its refusal. A store error is 503, so that the sender retries. */
export function asRefusal(error: unknown): DeliveryRefusal {
  if (error instanceof BodyAbortedError) return error;
  if (error instanceof StoreError) {
    const { retryAfterMs } = error;
    const condition = conditionOf(error);
    // A store that is almost full takes the canary, so that nothing else says what large bodies are refused for.
    const code = condition === 'full' || condition === 'over-quota' ? 'store-full' : 'store-unavailable';
    return new Problem(code, 'The store is unavailable; send it again.', { cause: error, retryAfterMs });
  }
  if (error instanceof BodyTooLargeError) {
    return new Problem('body-too-large', `This source accepts up to ${error.limit} decoded bytes.`);
  }
  if (error instanceof EncodingRefusedError) return new Problem('encoding-refused', error.message);
  return asProblem(error);
}
