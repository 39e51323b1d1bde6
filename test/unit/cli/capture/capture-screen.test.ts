import { describe, expect, it } from '@jest/globals';
import { createCaptureScreen } from '../../../../src/cli/capture/capture-screen.js';
import type { TranscriptSegment } from '../../../../src/speech/realtime/transcript/transcript-segment.js';

function segment(kind: 'final' | 'partial', text: string, speaker: string | null = null): TranscriptSegment {
  return { kind, text, speaker, start: 0, end: 1, results: [] };
}

function screenOn(quiet = false) {
  const out = { text: '', write: (text: string) => (out.text += text) };
  const errors = { text: '', write: (text: string) => (errors.text += text) };
  return { screen: createCaptureScreen(out, errors, quiet), out, errors };
}

describe('the screen of a capture', () => {
  it('writes final segments only', () => {
    const { screen, out } = screenOn();
    screen.segment(segment('partial', 'Hel'));
    screen.segment(segment('final', 'Hello. ', 'S1'));
    expect(out.text).toBe('S1: Hello.\n');
  });

  it('leaves standard output alone when it is to be quiet', () => {
    const { screen, out, errors } = screenOn(true);
    screen.segment(segment('final', 'Hello.'));
    screen.note('noted');
    expect([out.text, errors.text]).toEqual(['', 'noted\n']);
  });

  it('removes control characters', () => {
    const { screen, out } = screenOn();
    screen.segment(segment('final', 'a\u001b[2Jb\r\nc'));
    expect(out.text).toBe('a [2Jb c\n');
  });
});
