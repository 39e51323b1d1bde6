import type { AudioLimits } from '../audio-sender.js';
import type { RealtimeRegion, SessionService } from '../realtime-region.js';
import type { TranscriptionConfig } from '../wire.js';

/** Options of a session with all defaults. */
export interface SessionSettings {
  readonly service: SessionService;
  readonly region: RealtimeRegion;
  readonly audio: AudioLimits;
  /** Milliseconds from StartRecognition to RecognitionStarted. Null: `startTimeoutFor` the configuration. */
  readonly startTimeoutMs: number | null;
  /** Longest silence of the service while an acknowledgement or the end of the transcript is expected. */
  readonly inactivityTimeoutMs: number;
  /** Milliseconds for the closing handshake, before the connection is terminated. */
  readonly closeTimeoutMs: number;
}

/** Generous limits: `additional_vocab` may delay the start by up to 15 s. */
export function startTimeoutFor(config: TranscriptionConfig): number {
  return (config.additional_vocab?.length ?? 0) > 0 ? 60_000 : 30_000;
}
