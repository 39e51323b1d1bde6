import type { RealtimeRegion } from './realtime-region.js';
import type { SessionReport } from './session/session-report.js';
import type { ErrorType, Open } from './wire.js';

/** Base of everything the realtime client throws. `message` never holds a key. */
export abstract class RealtimeError extends Error {
  /** True when a retry may succeed, after `retryAfterMs` where that is given. */
  abstract readonly retryable: boolean;
  readonly retryAfterMs: number | null = null;
}

/** One fault of a configuration: the field, and the expected value. */
export interface SessionConfigFault {
  readonly path: string;
  readonly expected: string;
}

/** Options or a message that break the document's rules; names every fault at once. Nothing was sent. */
export class RealtimeConfigError extends RealtimeError {
  readonly retryable = false;
  readonly faults: readonly SessionConfigFault[];

  constructor(faults: readonly SessionConfigFault[]) {
    super(faults.map((fault) => `${fault.path}: ${fault.expected}`).join('; '));
    this.name = 'RealtimeConfigError';
    this.faults = faults;
  }
}

/** Calls that the protocol forbids, and what to do instead. */
const REFUSALS = {
  'start-repeated':
    'StartRecognition is sent exactly once; open a new session to recognise with another configuration.',
  'not-started': 'The service has not sent RecognitionStarted yet; await start() first.',
  'stream-ended': 'The stream has ended and takes nothing more; open a new session for more audio.',
  'session-closed': 'The session is closed; `finished` tells why. Open a new session.',
  'partial-sample':
    'The audio ends inside a sample; send its missing bytes, or end({ partialSample: "discard" }).',
  'config-fixed':
    'Only max_delay and enable_partials can change in a running session; other parameters need a new session.',
  'duration-limit':
    'The service has reached its duration limit and ignores further audio; await `finished`, then send the rest in a new session.',
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** A call the protocol forbids in this state, refused before anything was sent. */
export class RealtimeProtocolError extends RealtimeError {
  readonly retryable = false;
  readonly code: RefusalCode;

  constructor(code: RefusalCode, detail?: string) {
    super(detail === undefined ? REFUSALS[code] : `${REFUSALS[code]} (${detail})`);
    this.name = 'RealtimeProtocolError';
    this.code = code;
  }
}

/** Why one region could not be connected. */
export interface FailedAttempt {
  readonly region: RealtimeRegion;
  /** HTTP status of a rejected upgrade; null when unknown (network, time-out, browser). */
  readonly status: number | null;
  readonly detail: string;
}

/** No region accepted the connection. */
export class RealtimeConnectError extends RealtimeError {
  readonly retryable: boolean;
  readonly attempts: readonly FailedAttempt[];

  constructor(attempts: readonly FailedAttempt[], retryable: boolean, options?: { cause?: unknown }) {
    super(`No connection: ${attempts.map((each) => `${each.region}: ${each.detail}`).join('; ')}`, options);
    this.name = 'RealtimeConnectError';
    this.attempts = attempts;
    this.retryable = retryable;
  }

  /** Status of the last refused upgrade, e.g. 401 for a missing key. */
  get status(): number | null {
    return this.attempts.at(-1)?.status ?? null;
  }
}

/** Why a session failed. */
export interface SessionFailure {
  /**
   * `service-error`: an Error message; `socket-closed`: the connection ended before the transcript;
   * `timeout`: the service sent nothing in time; `malformed`: it sent an invalid message; `ended-early`:
   * EndOfTranscript before the stream was ended; `aborted`: by the caller.
   */
  readonly kind: 'service-error' | 'socket-closed' | 'timeout' | 'malformed' | 'ended-early' | 'aborted';
  /** The service's error type, from its message or its close code. */
  readonly type: Open<ErrorType> | null;
  readonly detail: string;
  readonly closeCode: number | null;
  /** Numeric `code` of the Error message, where it came with one. */
  readonly serviceCode: number | null;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
}

/** A session failed before its transcript was complete; `report` holds its acknowledged audio and final segments. */
export class RealtimeSessionError extends RealtimeError {
  readonly retryable: boolean;
  override readonly retryAfterMs: number | null;
  readonly kind: SessionFailure['kind'];
  readonly type: Open<ErrorType> | null;
  readonly closeCode: number | null;
  readonly serviceCode: number | null;
  readonly report: SessionReport;

  constructor(failure: SessionFailure, report: SessionReport) {
    super(failure.detail);
    this.name = 'RealtimeSessionError';
    this.kind = failure.kind;
    this.type = failure.type;
    this.closeCode = failure.closeCode;
    this.serviceCode = failure.serviceCode;
    this.retryable = failure.retryable;
    this.retryAfterMs = failure.retryAfterMs;
    this.report = report;
  }
}
