import { SpeechError, type SpeechErrorKind } from '../speech-error.js';

const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const TRUNCATIONS = new Set(['UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

/** Converts an error of the HTTP library; its kind is `aborted` when the caller's signal caused it. */
export function networkError(operation: string, error: unknown, signal?: AbortSignal): SpeechError {
  if (error instanceof SpeechError) return error;
  if (signal?.aborted) return new SpeechError('aborted', operation, 'aborted', { cause: signal.reason });
  const code = codeOf(error);
  return new SpeechError(kindOf(code, error), operation, describe(code), { cause: error });
}

function kindOf(code: string | null, error: unknown): SpeechErrorKind {
  if (code !== null && TIMEOUTS.has(code)) return 'timeout';
  if (code !== null && TRUNCATIONS.has(code)) return 'truncated';
  // llhttp's own codes (HPE_...): the peer does not speak HTTP.
  if (code?.startsWith('HPE_') || (error as Error | null)?.name === 'HTTPParserError')
    return 'invalid-response';
  return 'network';
}

/** Messages of the platform can hold addresses with queries; codes cannot. */
function describe(code: string | null): string {
  return code === null ? 'the connection failed' : `the connection failed (${code})`;
}

function codeOf(error: unknown): string | null {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? null : codeOf(cause);
}
