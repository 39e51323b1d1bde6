import type { SessionReport } from '../session/session-report.js';
import type { RealtimeResult, TranscriptionConfig } from '../wire.js';

/** The version of the batch transcript format (`json-v2`) whose shape the document follows. */
const FORMAT = '2.9';

/**
 * A session's transcript in the shape of the batch `json-v2` format, times absolute, so that readers of the
 * archive need one parser. `metadata.realtime` holds its origin and whether it is complete.
 */
export interface RealtimeTranscript {
  readonly format: string;
  readonly job: {
    readonly id: string;
    readonly created_at: string;
    readonly data_name: string;
    /** Seconds of audio acknowledged; for `file` audio the end of the last segment. */
    readonly duration: number;
  };
  readonly metadata: {
    readonly created_at: string;
    readonly type: 'transcription';
    readonly transcription_config: TranscriptionConfig | null;
    readonly realtime: {
      readonly service: string;
      readonly region: string;
      readonly complete: boolean;
      readonly incomplete_reason?: string;
      readonly acknowledged: SessionReport['acknowledged'];
      readonly sent: SessionReport['sent'];
      readonly duration_limit?: number;
    };
  };
  readonly results: readonly (RealtimeResult | SegmentResult)[];
}

/** A segment without words (agent sessions); the service sends no confidence for it. */
export interface SegmentResult {
  readonly type: 'segment';
  readonly start_time: number;
  readonly end_time: number;
  readonly alternatives: readonly { readonly content: string; readonly speaker?: string }[];
}

export interface TranscriptJsonOptions {
  readonly createdAt: Date;
  readonly finishedAt: Date;
  /** Name of the recording; empty when it has none. */
  readonly dataName?: string;
  /** Why the session failed, if it did. */
  readonly incompleteReason?: string;
}

/** The fields of a session's report that the document is made of. */
export type TranscribedSession = Pick<
  SessionReport,
  | 'id'
  | 'service'
  | 'region'
  | 'complete'
  | 'transcriptionConfig'
  | 'sent'
  | 'acknowledged'
  | 'durationLimit'
  | 'segments'
>;

/**
 * Document of a session in the shape of the batch `json-v2` format; `metadata.realtime` says whether it is complete.
 *
 * @example
 * const document = transcriptJson(report, { createdAt: begunAt, finishedAt: new Date() });
 */
export function transcriptJson(
  report: TranscribedSession,
  options: TranscriptJsonOptions,
): RealtimeTranscript {
  const duration = report.acknowledged.seconds ?? report.segments.at(-1)?.end ?? 0;
  return {
    format: FORMAT,
    job: {
      id: report.id ?? '',
      created_at: options.createdAt.toISOString(),
      data_name: options.dataName ?? '',
      duration,
    },
    metadata: {
      created_at: options.finishedAt.toISOString(),
      type: 'transcription',
      transcription_config: report.transcriptionConfig,
      realtime: {
        service: report.service,
        region: report.region,
        complete: report.complete,
        ...(options.incompleteReason === undefined ? {} : { incomplete_reason: options.incompleteReason }),
        acknowledged: report.acknowledged,
        sent: report.sent,
        ...(report.durationLimit === null ? {} : { duration_limit: report.durationLimit }),
      },
    },
    results: report.segments.flatMap(resultsOf),
  };
}

function resultsOf(segment: SessionReport['segments'][number]): readonly (RealtimeResult | SegmentResult)[] {
  if (segment.results.length > 0 || segment.text.trim() === '') return segment.results;
  const { start, end, text, speaker } = segment;
  const alternative = { content: text.trim(), ...(speaker === null ? {} : { speaker }) };
  return [{ type: 'segment', start_time: start, end_time: end, alternatives: [alternative] }];
}
