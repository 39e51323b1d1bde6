/** Why a request to the speech service failed. */
export type SpeechErrorKind =
  /** Options are missing or wrong: no address for a region, no API key. Nothing was sent. */
  | 'configuration'
  /** The request is invalid: the service rejected it (400, 422 and other 4xx) or it was not sent. */
  | 'invalid-request'
  /** 401, also after a temporary key was renewed. */
  | 'unauthorised'
  | 'forbidden'
  /** 404: unknown to this region, not visible to this key, or a transcript that is not ready yet. */
  | 'not-found'
  /** 410: retention is over. */
  | 'gone'
  /** 429, still after the retries. */
  | 'rate-limited'
  /** Nothing was sent: the service asked for a longer pause than requests wait (`Retry-After`). */
  | 'paused'
  /** 5xx, still after the retries. */
  | 'unavailable'
  /** Any 3xx: redirects are never followed, as the key would go along. */
  | 'redirect'
  | 'network'
  | 'timeout'
  /** A body ended early. */
  | 'truncated'
  /** A response that does not come from the service, such as a proxy's page. */
  | 'invalid-response'
  /** By the caller's signal, or because the clients were closed. */
  | 'aborted';

export interface SpeechErrorDetails {
  readonly cause?: unknown;
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** The service's own message, scrubbed and truncated. */
  readonly said?: string;
  /** Pause that `Retry-After` asked for. */
  readonly retryAfterMs?: number;
}

/** The one error the clients throw. Its message holds no secret and no query string. */
export class SpeechError extends Error {
  readonly kind: SpeechErrorKind;
  /** What was being done, e.g. `list jobs in eu1`. */
  readonly operation: string;
  readonly status: number | null;
  readonly said: string | null;
  readonly retryAfterMs: number | null;

  constructor(kind: SpeechErrorKind, operation: string, text: string, details: SpeechErrorDetails = {}) {
    super(`${operation}: ${text}`, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'SpeechError';
    this.kind = kind;
    this.operation = operation;
    this.status = details.status ?? null;
    this.said = details.said ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}

/** Whether the request was not sent, because the service asked for a pause. */
export function isPaused(error: unknown): error is SpeechError {
  return error instanceof SpeechError && error.kind === 'paused';
}
