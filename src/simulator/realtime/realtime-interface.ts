import type { IncomingMessage } from 'node:http';
import type { AudioBufferLimits } from './audio-buffer.js';
import type { SessionScript } from './session-script.js';

/** What the account behind a key may do; `ok`, or the type of the Error that answers StartRecognition. */
export type KeyVerdict = 'ok' | 'not_authorised' | 'insufficient_funds' | 'not_allowed';

/** `instant` processes audio on arrival; `manual` when `process` is called; a number at this multiple of real time. */
export type ProcessingPace = 'instant' | 'manual' | number;

export interface RealtimeSimulatorOptions {
  /** Judges the key of a connection: an API key from the header, or a temporary key from `jwt`. */
  verifyKey(token: string, placement: 'header' | 'jwt'): KeyVerdict | Promise<KeyVerdict>;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  readonly limits?: Partial<AudioBufferLimits>;
  /** Default `instant`. */
  readonly processing?: ProcessingPace;
  /** Seconds of audio after which a session sends a warning and ends. Default: none. */
  readonly durationLimitSeconds?: number;
  /** Script of the session of the n-th upgrade request (from 0); without one it succeeds. */
  script?(index: number): SessionScript | undefined;
}

/** One session, as a test sees it. */
export interface SimulatedSession {
  /** The `id` of RecognitionStarted. */
  readonly id: string;
  /** What the client sent: texts as they were, frames by size. */
  readonly received: readonly (string | number)[];
  /** Frames and seconds the client is ahead of AudioAdded. */
  readonly ahead: { readonly frames: number; readonly seconds: number };
  /** Settles when this number of bytes of audio was received. */
  whenReceived(bytes: number): Promise<void>;
  /** Processes buffered audio; for `processing: 'manual'`. */
  process(seconds: number): void;
}

export interface RealtimeSimulator {
  /** Origin for a client's `hosts`, e.g. `ws://127.0.0.1:40123`. */
  readonly origin: string;
  /** Sessions in the order of their connections. */
  readonly sessions: readonly SimulatedSession[];
  /** Upgrade requests so far, including rejected ones. */
  readonly upgrades: readonly IncomingMessage[];
  /** Settles with the n-th session (from 0) as soon as it is connected. */
  session(index: number): Promise<SimulatedSession>;
  /** Settles with the n-th upgrade request (from 0) as soon as it arrived. */
  upgrade(index: number): Promise<IncomingMessage>;
  close(): Promise<void>;
}
