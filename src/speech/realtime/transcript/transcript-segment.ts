import type {
  AddPartialSegment,
  AddPartialTranscript,
  AddSegment,
  AddTranscript,
  RealtimeResult,
} from '../wire.js';

/** One segment of a transcript. All times are absolute: seconds from the beginning of the session's audio. */
export interface TranscriptSegment {
  /** A partial may still be changed or extended; a final never is. */
  readonly kind: 'final' | 'partial';
  readonly start: number;
  readonly end: number;
  /** Formatted text, ready to concatenate. */
  readonly text: string;
  /** Agent sessions only. */
  readonly speaker: string | null;
  /** Words, marks and speaker changes; empty for agent segments. */
  readonly results: readonly RealtimeResult[];
}

/** The service counts the times of results from the start of their segment. */
export function segmentOf(
  message: AddTranscript | AddPartialTranscript | AddSegment | AddPartialSegment,
): TranscriptSegment {
  const { start_time: start, end_time: end } = message.metadata;
  if (message.message === 'AddSegment' || message.message === 'AddPartialSegment') {
    const { transcript: text, speaker = null } = message.segment;
    return {
      kind: message.message === 'AddSegment' ? 'final' : 'partial',
      start,
      end,
      text,
      speaker,
      results: [],
    };
  }
  return {
    kind: message.message === 'AddTranscript' ? 'final' : 'partial',
    start,
    end,
    text: message.metadata.transcript,
    speaker: null,
    results: message.results.map((result) => shifted(result, start)),
  };
}

function shifted(result: RealtimeResult, offset: number): RealtimeResult {
  return {
    ...result,
    start_time: milliseconds(result.start_time + offset),
    end_time: milliseconds(result.end_time + offset),
  };
}

/** Sums of decimal seconds drift in binary (1.1 + 2.2); milliseconds are far below the resolution of the service. */
function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
