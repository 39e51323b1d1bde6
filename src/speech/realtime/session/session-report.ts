import type { RealtimeRegion, SessionService } from '../realtime-region.js';
import type { TranscriptSegment } from '../transcript/transcript-segment.js';
import type { InfoMessage, TranscriptionConfig, WarningMessage } from '../wire.js';

/** Connected -> Started -> Ending -> Finished -> Closed (docs/service-interface.md#realtime). */
export type SessionState = 'connected' | 'started' | 'ending' | 'finished' | 'closed';

/** An amount of audio. `seconds` is null for `file` audio, whose rate the client cannot know. */
export interface AudioTally {
  readonly frames: number;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** The progress of a session; complete once the state is `finished`. */
export interface SessionReport {
  /** From RecognitionStarted; null before it. */
  readonly id: string | null;
  readonly service: SessionService;
  readonly region: RealtimeRegion;
  readonly state: SessionState;
  /** EndOfTranscript arrived after the stream was ended: nothing is missing. */
  readonly complete: boolean;
  readonly transcriptionConfig: TranscriptionConfig | null;
  readonly sent: AudioTally;
  /** Audio that the service confirmed with AudioAdded; the rest may be lost. */
  readonly acknowledged: AudioTally;
  /** Acknowledged audio beyond the duration limit, which the service ignored. */
  readonly ignored: AudioTally;
  /** Seconds, when the service ended the session for its length. */
  readonly durationLimit: number | null;
  /** All final segments, in order. */
  readonly segments: readonly TranscriptSegment[];
  readonly notices: readonly (WarningMessage | InfoMessage)[];
}
