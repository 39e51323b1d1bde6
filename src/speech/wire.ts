import type { KnownCallbackStatus } from '../domain/job.js';
import type { KnownContentToken } from '../domain/kinds.js';

/**
 * HTTP messages between clients and the speech service (docs/service-interface.md). Sets of names that the service may
 * extend are open (`string & {}`), and unknown fields are kept.
 */

/** `batch` keys open the jobs API, `rt` keys the realtime and agent interfaces. */
export type KeyType = 'batch' | 'rt';

/** Bounds of a temporary key's lifetime in seconds (docs/service-interface.md). */
export const KEY_TTL_SECONDS = { min: 60, max: 86_400 } as const;

export interface TemporaryKeyRequest {
  readonly ttl: number;
  /** One end-user. Honoured for `batch` keys only. */
  readonly client_ref?: string;
  /** Deprecated and without effect; the endpoint called decides. */
  readonly region?: string;
}

export interface TemporaryKeyResponse {
  readonly apikey_id: string | null;
  /** A JWT; `exp - iat` is the lifetime. */
  readonly key_value: string;
}

/** Content that a notification can carry (`CONTENT_TOKENS`). `transcript` and `transcript.json-v2` mean the same. */
export type ContentToken = KnownContentToken | (string & {});

/** A job carries at most this many notification entries (docs/service-interface.md). */
export const MAX_NOTIFICATIONS = 3;

export interface NotificationConfig {
  readonly url: string;
  /** Complete header lines, `<Header-Name>: <value>`. */
  readonly auth_headers?: readonly string[];
  /**
   * Empty: a callback without body. Absent: the same by the specification; by public documentation the transcript as one
   * attachment named `data_file`.
   */
  readonly contents?: readonly ContentToken[];
  /** `POST` unless given; the public specification writes it in lower case. */
  readonly method?: 'POST' | 'PUT' | (string & {});
}

export interface JobConfig {
  readonly type: 'transcription' | (string & {});
  readonly transcription_config?: {
    readonly language?: string;
    readonly model?: string;
    readonly [field: string]: unknown;
  };
  readonly fetch_data?: { readonly url: string; readonly [field: string]: unknown };
  readonly notification_config?: readonly NotificationConfig[];
  readonly [field: string]: unknown;
}

export type JobStatus = 'running' | 'done' | 'rejected' | 'deleted' | 'expired' | (string & {});

/** The status a callback carries in its query; not the status of the job. */
export type CallbackStatus = KnownCallbackStatus | (string & {});

/** One entry of a job's `errors`, among them every failed attempt to send a notification. */
export interface JobError {
  readonly message: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
}

export interface JobRecord {
  readonly id: string;
  readonly status: JobStatus;
  /** ISO 8601 UTC with milliseconds. */
  readonly created_at: string;
  readonly data_name: string;
  /** Seconds, by the public documentation; the specification states no unit. */
  readonly duration?: number;
  readonly config: JobConfig;
  readonly errors?: readonly JobError[];
  readonly [field: string]: unknown;
}

/** The transcript in `json-v2` format. */
export interface TranscriptV2 {
  readonly format: string;
  readonly job: {
    readonly id: string;
    readonly created_at: string;
    readonly data_name: string;
    readonly duration?: number;
    readonly [field: string]: unknown;
  };
  readonly metadata: {
    readonly created_at: string;
    readonly type: string;
    readonly transcription_config?: Readonly<Record<string, unknown>>;
    readonly [field: string]: unknown;
  };
  /** Empty for silence. */
  readonly results: readonly TranscriptResult[];
  readonly [field: string]: unknown;
}

export interface TranscriptResult {
  readonly type: 'word' | 'punctuation' | (string & {});
  /** Seconds from the beginning of the media. */
  readonly start_time: number;
  readonly end_time: number;
  readonly is_eos?: boolean;
  readonly attaches_to?: 'previous' | 'next' | (string & {});
  readonly alternatives?: readonly TranscriptAlternative[];
  readonly [field: string]: unknown;
}

export interface TranscriptAlternative {
  readonly content: string;
  /** 0.0 to 1.0 */
  readonly confidence: number;
  readonly language?: string;
  readonly display?: { readonly direction: 'ltr' | 'rtl' | (string & {}) };
  readonly [field: string]: unknown;
}

/** Usage statistics; payload open because the specification does not show it. */
export interface UsageResponse {
  readonly since?: string;
  readonly until?: string;
  readonly summary?: readonly Readonly<Record<string, unknown>>[];
  readonly details?: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}
