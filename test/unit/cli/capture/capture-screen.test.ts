import { describe, expect, it } from '@jest/globals';
import { createCaptureScreen } from '../../../../src/cli/capture/capture-screen.js';
import type { TranscriptSegment } from '../../../../src/speech/realtime/transcript/transcript-segment.js';

function segment(kind: 'final' | 'partial', text: string, speaker: string | null = null): TranscriptSegment {
  return { kind, text, speaker, start: 0, end: 1, results: [] };
}

function screenOn(isTTY: boolean, quiet = false) {
  const out = { isTTY, columns: 20, text: '', write: (text: string) => (out.text += text) };
  const errors = { text: '', write: (text: string) => (errors.text += text) };
  return { screen: createCaptureScreen(out, errors, quiet), out, errors };
}

describe('the screen of a capture', () => {
  it('overwrites partials on a terminal, and clears the last one', () => {
    const { screen, out } = screenOn(true);
    screen.segment(segment('partial', 'Hel'));
    screen.segment(segment('partial', 'Hello'));
    screen.segment(segment('final', 'Hello. '));
    screen.segment(segment('partial', 'and'));
    screen.end();
    const erase = '\r\u001b[K';
    const dim = (text: string) => `\u001b[2m${text}\u001b[0m`;
    expect(out.text).toBe(`${dim('Hel')}${erase}${dim('Hello')}${erase}Hello.\n${dim('and')}${erase}`);
  });

  it('keeps partials to one line of the terminal', () => {
    const { screen, out } = screenOn(true);
    screen.segment(segment('partial', 'a long sentence that goes on and on'));
    expect(out.text).toBe('\u001b[2mthat goes on and on\u001b[0m');
  });

  it('writes finals only into a pipe', () => {
    const { screen, out } = screenOn(false);
    screen.segment(segment('partial', 'Hel'));
    screen.segment(segment('final', 'Hello. ', 'S1'));
    screen.end();
    expect(out.text).toBe('S1: Hello.\n');
  });

  it('leaves standard output alone when it is to be quiet', () => {
    const { screen, out, errors } = screenOn(true, true);
    screen.segment(segment('final', 'Hello.'));
    screen.note('noted');
    expect([out.text, errors.text]).toEqual(['', 'noted\n']);
  });

  it('removes control characters', () => {
    const { screen, out } = screenOn(true);
    screen.segment(segment('final', 'a\u001b[2Jb\r\nc'));
    expect(out.text).toBe('a [2Jb c\n');
  });
});
