import { Problem, type ProblemCode } from '../domain/problem.js';
import { BlockedKeyError, StoreError } from '../store/object-store.js';
import { conditionOf } from '../store/store-condition.js';

const SEND_AGAIN = 'The store is unavailable; send it again.';
const CLOCK_DETAIL = 'The clocks of this replica and of the store differ too much; send it again.';

/** Maps an error of the store to a 503, so that the sender retries. Null for other errors. */
export function storeProblem(error: unknown): Problem | null {
  if (!(error instanceof StoreError)) return null;
  const { retryAfterMs } = error;
  const [code, detail] = answerTo(error);
  return new Problem(code, detail, { cause: error, retryAfterMs });
}

/** Names the causes that only the answer shows: an almost full store still accepts the canary, and a single key can be blocked. */
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

/** The answer while the store is known to be unavailable. */
export function unavailableProblem(): Problem {
  return new Problem('store-unavailable', SEND_AGAIN);
}

/** The answer of a replica that must not write the ledger with its clock. */
export function clockProblem(): Problem {
  return new Problem('clock', CLOCK_DETAIL);
}
