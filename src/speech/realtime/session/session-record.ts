import type { AudioSender } from '../audio-sender.js';
import type { FlowCount } from '../flow-window.js';
import type { RealtimeRegion, SessionService } from '../realtime-region.js';
import type { TranscriptSegment } from '../transcript/transcript-segment.js';
import type { InfoMessage, TranscriptionConfig, WarningMessage } from '../wire.js';
import type { AudioTally, SessionReport, SessionState } from './session-report.js';

/** Bounds the memory of a session that sends notices for hours. */
const MOST_NOTICES = 100;
const NOTHING: AudioTally = { frames: 0, bytes: 0, seconds: 0 };

/** The results of a session so far, and the report of them. */
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

  /** The service ended the session at its duration limit and ignores audio acknowledged from now on. */
  reachLimit(warning: WarningMessage, acknowledged: FlowCount): void {
    const seconds = typeof warning.duration_limit === 'number' ? warning.duration_limit : null;
    this.#limit ??= { seconds, acknowledged };
  }

  get limitReached(): boolean {
    return this.#limit !== null;
  }

  report(state: SessionState, sender: AudioSender | null): SessionReport {
    return {
      id: this.id,
      service: this.#service,
      region: this.#region,
      state,
      complete: this.complete,
      transcriptionConfig: this.config,
      sent: sender?.sent ?? NOTHING,
      acknowledged: sender?.acknowledged ?? NOTHING,
      ignored: this.#ignored(sender),
      durationLimit: this.#limit?.seconds ?? null,
      segments: [...this.#finals],
      notices: [...this.#notices],
    };
  }

  #ignored(sender: AudioSender | null): AudioTally {
    if (this.#limit === null || sender === null) return NOTHING;
    const { frames, bytes } = sender.acknowledged;
    const before = this.#limit.acknowledged;
    return sender.tally({ frames: frames - before.frames, bytes: bytes - before.bytes });
  }
}
