import type { RealtimeRegion, SessionService } from './realtime-region.js';
import type { TranscriptSegment } from './transcript/transcript-segment.js';
import type { InfoMessage, TranscriptionConfig, WarningMessage } from './wire.js';

/** Connected -> Started -> Ending -> Finished -> Closed (docs/service-interface.md#realtime). */
export type SessionState = 'connected' | 'started' | 'ending' | 'finished' | 'closed';

/** An amount of audio. `seconds` is null for `file` audio, whose rate the client cannot know. */
export interface AudioTally {
  readonly frames: number;
  readonly bytes: number;
  readonly seconds: number | null;
}

/** What a session did so far; complete once the state is `finished`, honest at any other time. */
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
  /** Audio the service confirmed with AudioAdded; the rest may never have been heard. */
  readonly acknowledged: AudioTally;
  /** Of the acknowledged audio, what came after the duration limit and was ignored. */
  readonly ignored: AudioTally;
  /** Seconds, when the service ended the session for its length. */
  readonly durationLimit: number | null;
  /** Everything final, in order. */
  readonly segments: readonly TranscriptSegment[];
  readonly notices: readonly (WarningMessage | InfoMessage)[];
}
