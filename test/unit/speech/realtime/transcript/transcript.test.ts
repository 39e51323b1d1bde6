import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SessionReport } from '../../../../../src/speech/realtime/session/session-report.js';
import { transcriptJson } from '../../../../../src/speech/realtime/transcript/transcript-json.js';
import {
  segmentOf,
  type TranscriptSegment,
} from '../../../../../src/speech/realtime/transcript/transcript-segment.js';
import { transcriptText } from '../../../../../src/speech/realtime/transcript/transcript-text.js';
import type { AddTranscript, RealtimeResult } from '../../../../../src/speech/realtime/wire.js';

/** Words on a timeline in milliseconds, cut anywhere into final messages with relative times. */
interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const timeline = fc
  .array(
    fc.record({
      text: fc.stringMatching(/^[a-z]{1,9}$/),
      gap: fc.integer({ min: 0, max: 3000 }),
      length: fc.integer({ min: 1, max: 900 }),
    }),
    { maxLength: 60 },
  )
  .map((parts) => {
    let at = 0;
    return parts.map(({ text, gap, length }): Word => {
      const start = at + gap;
      at = start + length;
      return { text, start, end: at };
    });
  });

const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 60, maxLength: 60 });

function finals(words: readonly Word[], sizes: readonly number[]): AddTranscript[] {
  const messages: AddTranscript[] = [];
  let from = 0;
  for (const size of sizes) {
    const part = words.slice(from, from + size);
    from += size;
    const first = part[0];
    const last = part.at(-1);
    if (first === undefined || last === undefined) break;
    messages.push({
      message: 'AddTranscript',
      metadata: {
        start_time: first.start / 1000,
        end_time: last.end / 1000,
        transcript: part.map((word) => `${word.text} `).join(''),
      },
      results: part.map((word) => ({
        type: 'word',
        start_time: word.start / 1000 - first.start / 1000,
        end_time: word.end / 1000 - first.start / 1000,
        alternatives: [{ content: word.text, confidence: 1 }],
      })),
    });
  }
  return messages;
}

const assemble = (messages: readonly AddTranscript[]): TranscriptSegment[] => messages.map(segmentOf);

function report(segments: readonly TranscriptSegment[], changes: Partial<SessionReport> = {}): SessionReport {
  const tally = { frames: 1, bytes: 64_000, seconds: 2 };
  return {
    id: 'a-session',
    service: 'realtime',
    region: 'eu1',
    state: 'finished',
    complete: true,
    transcriptionConfig: { language: 'en' },
    sent: tally,
    acknowledged: tally,
    ignored: { frames: 0, bytes: 0, seconds: 0 },
    durationLimit: null,
    segments,
    notices: [],
    ...changes,
  };
}

const DATES = {
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
  finishedAt: new Date('2026-01-02T03:05:00Z'),
};

const word = (content: string, start: number, end: number): RealtimeResult => ({
  type: 'word',
  start_time: start,
  end_time: end,
  alternatives: [{ content, confidence: 1 }],
});
const mark = (content: string, at: number, is_eos: boolean): RealtimeResult => ({
  type: 'punctuation',
  start_time: at,
  end_time: at,
  is_eos,
  alternatives: [{ content, confidence: 1 }],
});
const segment = (results: readonly RealtimeResult[], text = ''): TranscriptSegment => ({
  kind: 'final',
  start: results[0]?.start_time ?? 0,
  end: results.at(-1)?.end_time ?? 0,
  text,
  speaker: null,
  results,
});

describe('the assembled transcript', () => {
  // Rule: Realtime: Transcript message body: `transcript` concatenates
  // Rule: Realtime: Transcript message body: times are relative to the segment
  // Rule: Realtime: Server-to-client messages: `AddTranscript` covers audio since the last
  it('has the same absolute words and text wherever the finals were cut', () => {
    fc.assert(
      fc.property(timeline, cuts, (words, sizes) => {
        const messages = finals(words, sizes);
        const segments = assemble(messages);
        const results = transcriptJson(report(segments), DATES).results;
        expect(results.map(({ start_time, end_time }) => [start_time, end_time])).toEqual(
          words.map(({ start, end }) => [start / 1000, end / 1000]),
        );
        expect(transcriptText(segments).trim()).toBe(words.map(({ text }) => text).join(' '));
      }),
    );
  });

  it('follows the batch json-v2 shape and says where it came from', () => {
    const segments = [segment([word('Hello', 0.1, 0.5), mark('.', 0.5, true)], 'Hello. ')];
    expect(transcriptJson(report(segments), { ...DATES, dataName: 'call.wav' })).toEqual({
      format: '2.9',
      job: { id: 'a-session', created_at: '2026-01-02T03:04:05.678Z', data_name: 'call.wav', duration: 2 },
      metadata: {
        created_at: '2026-01-02T03:05:00.000Z',
        type: 'transcription',
        transcription_config: { language: 'en' },
        realtime: {
          service: 'realtime',
          region: 'eu1',
          complete: true,
          acknowledged: { frames: 1, bytes: 64_000, seconds: 2 },
          sent: { frames: 1, bytes: 64_000, seconds: 2 },
        },
      },
      results: segments[0]?.results,
    });
  });

  it('says why it is incomplete', () => {
    const dead = report([], { complete: false, durationLimit: 60 });
    expect(transcriptJson(dead, { ...DATES, incompleteReason: 'cut' }).metadata.realtime).toMatchObject({
      complete: false,
      incomplete_reason: 'cut',
      duration_limit: 60,
    });
  });

  it('is an empty text for silence', () => {
    expect(transcriptText([])).toBe('');
  });
});
