import type { RealtimeRegion, SessionService } from '../../speech/realtime/realtime-region.js';
import type { SessionReport } from '../../speech/realtime/session/session-report.js';
import { transcriptJson } from '../../speech/realtime/transcript/transcript-json.js';
import type { TranscriptSegment } from '../../speech/realtime/transcript/transcript-segment.js';
import { transcriptSrt } from '../../speech/realtime/transcript/transcript-srt.js';
import { transcriptText } from '../../speech/realtime/transcript/transcript-text.js';
import type { TranscriptionConfig } from '../../speech/realtime/wire.js';
import type { CapturedFile, SessionContext, SessionEnding } from './archive-session.js';

/** Facts about a session that are known when it begins. */
export interface SessionHead {
  readonly context: SessionContext;
  readonly service: SessionService;
  readonly region: RealtimeRegion;
  readonly transcriptionConfig: TranscriptionConfig | null;
  /** Name of the recording; empty when it has none. */
  readonly dataName: string;
}

/** How a session ended. */
export interface SessionResult
  extends Pick<SessionReport, 'sent' | 'acknowledged'>,
    Omit<SessionEnding, 'bytes'> {
  readonly complete: boolean;
  /** Description of the reason; null for a complete transcript. */
  readonly detail: string | null;
  readonly durationLimit: number | null;
}

/** The artefacts of a session. */
export function sessionTranscripts(
  head: SessionHead,
  segments: readonly TranscriptSegment[],
  result: SessionResult,
): CapturedFile[] {
  const { context, service, region, transcriptionConfig, dataName } = head;
  const { complete, detail, durationLimit, sent, acknowledged } = result;
  const json = transcriptJson(
    {
      ...{ id: context.jobId, service, region, transcriptionConfig, segments },
      ...{ complete, durationLimit, sent, acknowledged },
    },
    {
      createdAt: new Date(context.receivedAt),
      finishedAt: new Date(result.finishedAt),
      dataName,
      ...(detail === null ? {} : { incompleteReason: detail }),
    },
  );
  const text = 'text/plain; charset=utf-8';
  return [
    { kind: 'transcript.json-v2', contentType: 'application/json', content: JSON.stringify(json) },
    { kind: 'transcript.txt', contentType: text, content: transcriptText(segments) },
    {
      kind: 'transcript.srt',
      contentType: text,
      content: transcriptSrt(segments, transcriptionConfig?.language),
    },
  ];
}
