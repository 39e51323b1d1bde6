/**
 * Messages of the realtime protocol 2.6 (docs/service-interface.md#realtime). Types only: client and simulator share
 * nothing else. Every set of values that the service may extend is open.
 */
export type Open<Known extends string> = Known | (string & {});

export type RawEncoding = 'pcm_f32le' | 'pcm_s16le' | 'mulaw';

/** AudioType: `raw` samples, or a `file` of any format the service decodes, sent whole with its headers. */
export type AudioFormat =
  | { readonly type: 'raw'; readonly encoding: RawEncoding; readonly sample_rate: number }
  | { readonly type: 'file' };

/** An extra dictionary word; a plain string `w` means `{ content: w, sounds_like: [w] }`. */
export type AdditionalWord =
  | string
  | { readonly content: string; readonly sounds_like?: readonly [string, ...string[]] };

export interface PunctuationOverrides {
  /** Marks accepted in the output; unsupported ones are ignored. Default `all`. */
  readonly permitted_marks?: readonly string[] | 'all';
  /** 0 to 1, default 0.5; higher gives more punctuation. */
  readonly sensitivity?: number;
}

export interface TranscriptionConfig {
  /** Language code. Cannot be changed after the start. */
  readonly language: string;
  /** Costs up to 15 s at the start of the session. */
  readonly additional_vocab?: readonly AdditionalWord[];
  readonly diarization?: 'none' | 'speaker_change';
  /** Default false: no AddPartialTranscript. */
  readonly enable_partials?: boolean;
  /** 2 to 20 s, default 10. */
  readonly max_delay?: number;
  /** Spelling, e.g. `en-GB`; empty means the language's default. */
  readonly output_locale?: string;
  readonly punctuation_overrides?: PunctuationOverrides;
  /** 0 to 1, default 0.4; applies with `diarization: speaker_change` only. */
  readonly speaker_change_sensitivity?: number;
}

export interface StartRecognition {
  readonly message: 'StartRecognition';
  readonly audio_format: AudioFormat;
  readonly transcription_config: TranscriptionConfig;
}

/** `language` is mandatory here too; only `max_delay` and `enable_partials` may differ from the start. */
export interface SetRecognitionConfig {
  readonly message: 'SetRecognitionConfig';
  readonly transcription_config: TranscriptionConfig;
}

export interface EndOfStream {
  readonly message: 'EndOfStream';
  /** Total number of audio frames sent. */
  readonly last_seq_no: number;
}

/** Audio itself (AddAudio) is a binary frame and has no JSON form. */
export type ClientMessage = StartRecognition | SetRecognitionConfig | EndOfStream;

export interface RecognitionStarted {
  readonly message: 'RecognitionStarted';
  /** GUID of the session. */
  readonly id: string;
}

export interface AudioAdded {
  readonly message: 'AudioAdded';
  /** Number of the frame that was read, counted from 1. */
  readonly seq_no: number;
}

export interface Alternative {
  readonly content: string;
  /** 0 to 1; always 0 in partial transcripts. */
  readonly confidence: number;
  readonly display?: { readonly direction: Open<'ltr' | 'rtl'> };
  readonly language?: string;
}

export interface RealtimeResult {
  readonly type: Open<'word' | 'punctuation' | 'speaker_change'>;
  /** Seconds, relative to `metadata.start_time`. */
  readonly start_time: number;
  /** Seconds, relative to `metadata.start_time`; equals `start_time` for all but words. */
  readonly end_time: number;
  /** Present on punctuation only: the mark ends a sentence. */
  readonly is_eos?: boolean;
  /** Empty for `speaker_change`. */
  readonly alternatives?: readonly Alternative[];
}

export interface TranscriptBody {
  readonly metadata: {
    /** Seconds from the beginning of the audio. */
    readonly start_time: number;
    readonly end_time: number;
    /** Formatted text of the segment, ready to concatenate. */
    readonly transcript: string;
  };
  readonly results: readonly RealtimeResult[];
}

/** Final: covers the audio since the AddTranscript before it. */
export interface AddTranscript extends TranscriptBody {
  readonly message: 'AddTranscript';
}

/** Provisional: changed or extended by later messages. */
export interface AddPartialTranscript extends TranscriptBody {
  readonly message: 'AddPartialTranscript';
}

export interface EndOfTranscript {
  readonly message: 'EndOfTranscript';
}

export type DocumentedErrorType =
  | 'invalid_message'
  | 'invalid_model'
  | 'invalid_config'
  | 'invalid_audio_type'
  | 'invalid_output_format'
  | 'not_authorised'
  | 'insufficient_funds'
  | 'not_allowed'
  | 'job_error'
  | 'data_error'
  | 'buffer_error'
  | 'protocol_error'
  | 'unknown_error';

/** Types that the service added later, as its public material shows them. */
export type LaterErrorType =
  | 'invalid_language'
  | 'quota_exceeded'
  | 'timelimit_exceeded'
  | 'idle_timeout'
  | 'session_timeout';

export type ErrorType = DocumentedErrorType | LaterErrorType;

/** Ends the session: the service closes the connection after it. */
export interface ErrorMessage {
  readonly message: 'Error';
  readonly code?: number;
  readonly type: Open<ErrorType>;
  /** Empty when the service sends none. */
  readonly reason: string;
}

export interface WarningMessage {
  readonly message: 'Warning';
  readonly code?: number;
  readonly type: Open<'duration_limit_exceeded'>;
  /** Empty when the service sends none. */
  readonly reason: string;
  /** Seconds; with `duration_limit_exceeded`. */
  readonly duration_limit?: number;
  readonly [extra: string]: unknown;
}

export interface InfoMessage {
  readonly message: 'Info';
  readonly code?: number;
  readonly type: Open<'recognition_quality' | 'model_redirect' | 'deprecated'>;
  /** Empty when the service sends none. */
  readonly reason: string;
  /** With `recognition_quality`: `broadcast` from 12 kHz, else `telephony`. */
  readonly quality?: Open<'telephony' | 'broadcast'>;
  readonly [extra: string]: unknown;
}

/** Agent sessions: a segment of one speaker's speech. The specification does not show agent messages. */
export interface AgentSegmentBody {
  readonly metadata: { readonly start_time: number; readonly end_time: number };
  readonly segment: { readonly speaker?: string; readonly transcript: string };
}

export interface AddSegment extends AgentSegmentBody {
  readonly message: 'AddSegment';
}

export interface AddPartialSegment extends AgentSegmentBody {
  readonly message: 'AddPartialSegment';
}

/** Agent signals whose fields are not public; all fields are kept unchanged. */
export interface AgentSignalOf<Name extends string> {
  readonly message: Name;
  readonly [extra: string]: unknown;
}

export type AgentSignal =
  | AgentSignalOf<'StartOfTurn'>
  | AgentSignalOf<'EndOfTurn'>
  | AgentSignalOf<'SpeechStarted'>
  | AgentSignalOf<'SpeechEnded'>;

export type ServerMessage =
  | RecognitionStarted
  | AudioAdded
  | AddTranscript
  | AddPartialTranscript
  | EndOfTranscript
  | ErrorMessage
  | WarningMessage
  | InfoMessage
  | AddSegment
  | AddPartialSegment
  | AgentSignal;
