import type { AudioPipe } from './audio-pipe.js';
import type { FlowCount } from './flow-window.js';
import type { RealtimeRegion, SessionService } from './realtime-region.js';
import type { AudioTally, SessionReport, SessionState } from './session-report.js';
import type { TranscriptSegment } from './transcript/transcript-segment.js';
import type { InfoMessage, TranscriptionConfig, WarningMessage } from './wire.js';

/** A session that repeats itself for hours must not fill the memory with notices. */
const MOST_NOTICES = 100;
const NOTHING: AudioTally = { frames: 0, bytes: 0, seconds: 0 };

/** What a session has gathered so far, and the report made of it. */
export class SessionRecord {
  id: string | null = null;
  config: TranscriptionConfig | null = null;
  complete = false;
  readonly #service: SessionService;
  readonly #region: RealtimeRegion;
  readonly #finals: TranscriptSegment[] = [];
  readonly #notices: (WarningMessage | InfoMessage)[] = [];
  #limit: { readonly seconds: number | null; readonly acknowledged: FlowCount } | null = null;

  constructor(service: SessionService, region: RealtimeRegion) {
    this.#service = service;
    this.#region = region;
  }

  addSegment(segment: TranscriptSegment): void {
    if (segment.kind === 'final') this.#finals.push(segment);
  }

  addNotice(notice: WarningMessage | InfoMessage): void {
    if (this.#notices.length < MOST_NOTICES) this.#notices.push(notice);
  }

  /** The service ends the session for its length; audio acknowledged from now on is ignored. */
  reachLimit(warning: WarningMessage, acknowledged: FlowCount): void {
    const seconds = typeof warning.duration_limit === 'number' ? warning.duration_limit : null;
    this.#limit ??= { seconds, acknowledged };
  }

  get limitReached(): boolean {
    return this.#limit !== null;
  }

  report(state: SessionState, pipe: AudioPipe | null): SessionReport {
    return {
      id: this.id,
      service: this.#service,
      region: this.#region,
      state,
      complete: this.complete,
      transcriptionConfig: this.config,
      sent: pipe?.sent ?? NOTHING,
      acknowledged: pipe?.acknowledged ?? NOTHING,
      ignored: this.#ignored(pipe),
      durationLimit: this.#limit?.seconds ?? null,
      segments: [...this.#finals],
      notices: [...this.#notices],
    };
  }

  #ignored(pipe: AudioPipe | null): AudioTally {
    if (this.#limit === null || pipe === null) return NOTHING;
    const { frames, bytes } = pipe.acknowledged;
    const before = this.#limit.acknowledged;
    return pipe.tally({ frames: frames - before.frames, bytes: bytes - before.bytes });
  }
}
