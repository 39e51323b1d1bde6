import { reasonOf } from '../../../domain/reasons.js';
import type { SessionFailure } from '../realtime-error.js';
import type { ErrorMessage, ErrorType, Open } from '../wire.js';

/** Meaning of a close code, and whether another session may succeed. */
export interface CloseMeaning {
  readonly type: Open<ErrorType> | null;
  readonly meaning: string;
  readonly retryAfterMs: number | null;
  readonly retryable: boolean;
}

/** The service recommends a wait of 5 to 10 s after an error on its side. */
const RETRY_AFTER_MS = 5_000;

const close = (type: Open<ErrorType> | null, meaning: string): CloseMeaning => ({
  type,
  meaning,
  retryable: false,
  retryAfterMs: null,
});
const closeToRetry = (
  type: ErrorType | null,
  meaning: string,
  retryAfterMs: number | null,
): CloseMeaning => ({
  type,
  meaning,
  retryable: true,
  retryAfterMs,
});

/** Close codes: RFC 6455 and the service's own from its public material. An open set. */
export const CLOSE_CODES: Readonly<Record<number, CloseMeaning>> = {
  1000: close(null, 'closed before the transcript was complete'),
  1001: closeToRetry(null, 'the service went away', null),
  1003: close('protocol_error', 'protocol error'),
  1006: closeToRetry(null, 'the connection was cut', null),
  1008: close(null, 'policy: idle or session time-out'),
  1011: closeToRetry('unknown_error', 'internal error of the service', RETRY_AFTER_MS),
  1012: closeToRetry(null, 'the service restarts', RETRY_AFTER_MS),
  1013: closeToRetry(null, 'the service is overloaded', RETRY_AFTER_MS),
  4001: close('not_authorised', 'the key was refused'),
  4003: close('not_allowed', 'not allowed for this user'),
  4004: close('invalid_model', 'the language or model cannot be used'),
  4005: closeToRetry('quota_exceeded', 'quota exceeded', RETRY_AFTER_MS),
  4006: close('timelimit_exceeded', 'time limit exceeded'),
  4013: closeToRetry('job_error', 'the service could not work on the job', RETRY_AFTER_MS),
};

const RETRYABLE_TYPES: ReadonlySet<string> = new Set<ErrorType>([
  'job_error',
  'quota_exceeded',
  'unknown_error',
]);

export function failureByError(error: ErrorMessage): SessionFailure {
  const advice = reasonOf(error.type)?.words;
  const retryable = RETRYABLE_TYPES.has(error.type);
  return {
    kind: 'service-error',
    type: error.type,
    detail: `${error.type}: ${error.reason}${advice === undefined ? '' : ` (${advice})`}`,
    closeCode: null,
    serviceCode: error.code ?? null,
    retryable,
    retryAfterMs: retryable ? RETRY_AFTER_MS : null,
  };
}

export function failureByClose(code: number, reason: string): SessionFailure {
  const known = CLOSE_CODES[code] ?? close(null, 'closed by the service');
  return {
    kind: 'socket-closed',
    type: known.type,
    detail: `Connection closed with ${code}: ${known.meaning}${reason === '' ? '' : ` (${reason})`}`,
    closeCode: code,
    serviceCode: null,
    retryable: known.retryable,
    retryAfterMs: known.retryAfterMs,
  };
}

/** Failures that neither an Error message nor a close code explains. */
export function clientSideFailure(
  kind: 'timeout' | 'malformed' | 'ended-early' | 'aborted',
  detail: string,
): SessionFailure {
  const retryable = kind === 'timeout';
  return { kind, type: null, detail, closeCode: null, serviceCode: null, retryable, retryAfterMs: null };
}
