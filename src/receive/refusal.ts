import { BodyTooLargeError, EncodingRefusedError } from '../archive/content/decode-error.js';
import { storeProblem } from '../archive/store-problem.js';
import { asProblem, Problem } from '../domain/problem.js';
import { BodyAbortedError } from '../lib/http/request-body.js';

/** Why a delivery was refused: a problem to respond with, or that its sender is gone. */
export type DeliveryRefusal = Problem | BodyAbortedError;

/** Maps an error to its refusal. A store error is 503, so that the sender retries. */
export function asRefusal(error: unknown): DeliveryRefusal {
  if (error instanceof BodyAbortedError) return error;
  if (error instanceof BodyTooLargeError) {
    return new Problem('body-too-large', `This source accepts up to ${error.limit} decoded bytes.`);
  }
  if (error instanceof EncodingRefusedError) return new Problem('encoding-refused', error.message);
  return storeProblem(error) ?? asProblem(error);
}
