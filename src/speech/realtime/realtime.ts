/**
 * Realtime and agent sessions of the speech service, as a library: `transcript-receiver/realtime`.
 *
 * ```ts
 * const session = await startSession({
 *   hosts: { eu1: 'eu.rt.example.com' },
 *   region: 'eu1',
 *   credential: { apiKey },
 *   audioFormat: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
 *   transcriptionConfig: { language: 'en', enable_partials: true },
 * });
 * session.on('segment', (segment) => console.log(segment.kind, segment.text));
 * const report = await session.stream(createReadStream('speech.pcm'));
 * console.log(transcriptText(report.segments));
 * ```
 */
import type { ProxySettings } from '../../lib/outbound/proxy-settings.js';
import { type AudioLimits, DEFAULT_AUDIO_LIMITS } from './audio-sender.js';
import { checkStart } from './check-config.js';
import { RealtimeConfigError, type SessionConfigFault } from './realtime-error.js';
import { RealtimeSession } from './session/session.js';
import { connect, type RealtimeCredential } from './socket/connect.js';
import type { EndpointOptions } from './socket/endpoint.js';
import type { SocketConnector } from './socket/socket.js';
import type { AudioFormat, TranscriptionConfig } from './wire.js';

export type { ProxySettings } from '../../lib/outbound/proxy-settings.js';
export { type AudioLimits, DEFAULT_AUDIO_LIMITS } from './audio-sender.js';
export type { ReceivedMessage, UnknownMessage } from './read-message.js';
export {
  type FailedAttempt,
  RealtimeConfigError,
  RealtimeConnectError,
  RealtimeError,
  RealtimeProtocolError,
  RealtimeSessionError,
  type RefusalCode,
  type SessionConfigFault,
  type SessionFailure,
} from './realtime-error.js';
export { REALTIME_REGIONS, type RealtimeRegion, type SessionService } from './realtime-region.js';
export type { RealtimeSession } from './session/session.js';
export type { SessionEventMap, SessionEventName } from './session/session-events.js';
export { CLOSE_CODES, type CloseMeaning } from './session/session-failure.js';
export type { AudioTally, SessionReport, SessionState } from './session/session-report.js';
export type { SessionSettings } from './session/session-settings.js';
export type { RealtimeCredential } from './socket/connect.js';
export type { EndpointOptions } from './socket/endpoint.js';
export {
  adaptWebSocket,
  type RealtimeSocket,
  type SocketConnector,
  type SocketEvents,
  type SocketRequest,
  UpgradeRefused,
  type WebSocketLike,
} from './socket/socket.js';
export { connectWithWebSocket } from './socket/web-socket.js';
export {
  type RealtimeTranscript,
  type SegmentResult,
  type TranscribedSession,
  type TranscriptJsonOptions,
  transcriptJson,
} from './transcript/transcript-json.js';
export type { TranscriptSegment } from './transcript/transcript-segment.js';
export { transcriptText } from './transcript/transcript-text.js';
export type * from './wire.js';

export interface SessionOptions extends EndpointOptions {
  /** A function is called for every connection attempt, so that temporary keys can be fresh. */
  readonly credential: RealtimeCredential | (() => Promise<RealtimeCredential>);
  /** Default: the library `ws`, for Node.js. In browsers `connectWithWebSocket(WebSocket)`. */
  readonly connector?: SocketConnector;
  /** Proxies for the library `ws`, such as `readProxySettings(process.env)` of `transcript-receiver/speech`. Default: none. */
  readonly proxies?: ProxySettings | undefined;
  /** Limits of audio ahead of its acknowledgement; those of the protocol are defaults and ceilings. */
  readonly audio?: Partial<AudioLimits>;
  /** Milliseconds of one connection attempt. Default 10 s. */
  readonly handshakeTimeoutMs?: number;
  /** Milliseconds from StartRecognition to RecognitionStarted. Default 30 s, with `additional_vocab` 60 s. */
  readonly startTimeoutMs?: number;
  /** Longest silence of the service while an answer is expected. Default 60 s. */
  readonly inactivityTimeoutMs?: number;
  /** Milliseconds for the closing handshake, before the connection is cut. Default 5 s. */
  readonly closeTimeoutMs?: number;
  /** Aborts connecting and starting; a session that has started is ended by `end` or `abort`. */
  readonly signal?: AbortSignal;
}

export interface StartOptions extends SessionOptions {
  readonly audioFormat: AudioFormat;
  readonly transcriptionConfig: TranscriptionConfig;
}

/**
 * Connects; the session is `connected` and waits for `start`. Throws `RealtimeConfigError` for wrong options
 * and `RealtimeConnectError` when no region accepts the connection.
 *
 * @example
 * const session = await connectSession({ hosts: { eu1: 'eu.rt.example.com' }, region: 'eu1', credential: { apiKey } });
 * session.on('segment', ({ text }) => console.log(text));
 * await session.start({ type: 'file' }, { language: 'en' });
 */
export async function connectSession(options: SessionOptions): Promise<RealtimeSession> {
  const audio = { ...DEFAULT_AUDIO_LIMITS, ...options.audio };
  checkOptions(options, audio);
  const service = options.service ?? 'realtime';
  const { socket, region } = await connect({
    ...options,
    connector: options.connector ?? (await import('./socket/ws-socket.js')).connectWithWs(options.proxies),
    handshakeTimeoutMs: options.handshakeTimeoutMs ?? 10_000,
  });
  return new RealtimeSession(socket, {
    service,
    region,
    audio,
    startTimeoutMs: options.startTimeoutMs ?? null,
    inactivityTimeoutMs: options.inactivityTimeoutMs ?? 60_000,
    closeTimeoutMs: options.closeTimeoutMs ?? 5_000,
  });
}

/**
 * Connects and starts; throws what `connectSession` and `RealtimeSession.start` throw, and leaves no socket.
 *
 * @example
 * const session = await startSession({
 *   hosts: { global: 'rt.example.com' },
 *   credential: { apiKey },
 *   audioFormat: { type: 'file' },
 *   transcriptionConfig: { language: 'en' },
 * });
 * const { segments } = await session.stream(audio);
 */
export async function startSession(options: StartOptions): Promise<RealtimeSession> {
  checkStart(options.audioFormat, options.transcriptionConfig);
  const session = await connectSession(options);
  const giveUp = (): void => session.abort('aborted by the caller while starting');
  options.signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await session.start(options.audioFormat, options.transcriptionConfig);
  } finally {
    options.signal?.removeEventListener('abort', giveUp);
  }
  return session;
}

const TIMEOUTS = ['handshakeTimeoutMs', 'startTimeoutMs', 'inactivityTimeoutMs', 'closeTimeoutMs'] as const;

function checkOptions(options: SessionOptions, audio: AudioLimits): void {
  const faults: SessionConfigFault[] = [];
  for (const [name, value] of Object.entries(audio) as [keyof AudioLimits, number][]) {
    const isOfProtocol = name === 'unacknowledgedFrames' || name === 'unacknowledgedSeconds';
    const ceiling = isOfProtocol ? DEFAULT_AUDIO_LIMITS[name] : Number.MAX_SAFE_INTEGER;
    if (!(value > 0 && value <= ceiling))
      faults.push({ path: `audio.${name}`, expected: `above 0, at most ${ceiling}` });
  }
  for (const name of TIMEOUTS) {
    const value = options[name];
    if (value !== undefined && !(value > 0)) faults.push({ path: name, expected: 'milliseconds above 0' });
  }
  if (faults.length > 0) throw new RealtimeConfigError(faults);
}
