import type { IncomingMessage } from 'node:http';
import { Problem } from '../../domain/problem.js';
import { type BodyLimits, type BodyReader, declaredLengthOf } from '../../lib/http/body-reader.js';
import { BodyAbortedError } from '../../lib/http/request-body.js';

export interface JsonLimits {
  readonly bodyReader: BodyReader;
  /** The same time-outs as for bodies of callbacks. */
  readonly limits: BodyLimits;
}

const MAX_JSON = 1024 * 1024;

/** Reads a JSON body; undefined when there is none. Rejects with `body-too-large`, `body-too-slow` or `request-invalid`. */
export async function readJson(
  request: IncomingMessage,
  { bodyReader, limits }: JsonLimits,
): Promise<unknown> {
  const declaredLength = declaredLengthOf(request);
  if (declaredLength !== null && declaredLength > MAX_JSON) throw tooLarge();
  const chunks: Buffer[] = [];
  const body = bodyReader.read(request, limits, { maxBytes: MAX_JSON, declaredLength });
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (error) {
    if (error instanceof BodyAbortedError) throw invalid('The body is incomplete.', error);
    throw error instanceof Problem && error.code === 'body-too-large' ? tooLarge() : error;
  }
  if (chunks.length === 0) return undefined;
  try {
    // Letters of another encoding would be replaced, and a reason that holds them would stay so in the ledger.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw invalid('The body is not valid JSON in UTF-8.', error);
  }
}

function tooLarge(): Problem {
  return new Problem('body-too-large', `JSON bodies may have up to ${MAX_JSON} bytes.`);
}

function invalid(detail: string, cause: unknown): Problem {
  return new Problem('request-invalid', detail, { cause });
}
