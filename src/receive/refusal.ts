import { BodyTooLargeError, EncodingRefusedError } from '../content/decode-error.js';
import { asProblem, Problem, type ProblemCode } from '../domain/problem.js';
import { BodyAbortedError } from '../http/request-body.js';
import { BlockedKeyError, StoreError } from '../store/object-store.js';
import { conditionOf } from '../store/store-condition.js';

/** Why a delivery was refused: a problem to respond with, or that its sender is gone. */
export type DeliveryRefusal = Problem | BodyAbortedError;

/** Maps an error to its refusal. A store error is 503, so that the sender retries. */
export function asRefusal(error: unknown): DeliveryRefusal {
  if (error instanceof BodyAbortedError) return error;
  if (error instanceof StoreError) {
    const { retryAfterMs } = error;
    const [code, detail] = answerTo(error);
    return new Problem(code, detail, { cause: error, retryAfterMs });
  }
  if (error instanceof BodyTooLargeError) {
    return new Problem('body-too-large', `This source accepts up to ${error.limit} decoded bytes.`);
  }
  if (error instanceof EncodingRefusedError) return new Problem('encoding-refused', error.message);
  return asProblem(error);
}

const SEND_AGAIN = 'The store is unavailable; send it again.';

/** A store that is almost full takes the canary, and one key is blocked beside others: nothing else says what these are refused for. */
function answerTo(error: StoreError): readonly [ProblemCode, string] {
  if (error instanceof BlockedKeyError) {
    return [
      'store-blocked',
      'Something that is no object, such as a link, is in the way in the store; an operator has to remove it.',
    ];
  }
  switch (conditionOf(error)) {
    case 'full':
    case 'over-quota':
      return ['store-full', SEND_AGAIN];
    case 'clock':
      return ['clock', CLOCK_DETAIL];
    default:
      return ['store-unavailable', SEND_AGAIN];
  }
}

const CLOCK_DETAIL = 'The clocks of this replica and of the store differ too much; send it again.';

/** The answer of a replica that must not write the ledger with its clock. */
export function clockProblem(): Problem {
  return new Problem('clock', CLOCK_DETAIL);
}
