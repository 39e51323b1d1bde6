import type { TranscriptSegment } from './transcript-segment.js';

/**
 * Plain text of the final segments. Realtime segments are "ready to concatenate" and bring their own spaces;
 * agent segments are turns of speakers and get a line each, with the speaker where there is one.
 *
 * @example
 * const text = transcriptText(report.segments);
 */
export function transcriptText(segments: readonly TranscriptSegment[]): string {
  let text = '';
  for (const { text: own, speaker, results } of segments) {
    const isTurn = speaker !== null || (results.length === 0 && own.trim() !== '');
    text += isTurn ? turn(text, own, speaker) : own;
  }
  const trimmed = text.trim();
  return trimmed === '' ? '' : `${trimmed}\n`;
}

function turn(before: string, own: string, speaker: string | null): string {
  const lineBreak = before === '' || before.endsWith('\n') ? '' : '\n';
  return `${lineBreak}${speaker === null ? '' : `${speaker}: `}${own.trim()}\n`;
}
