import { describe, expect, it } from '@jest/globals';
import { terminalJson, terminalLine, terminalText } from '../../../../src/lib/text/terminal-text.js';

/** Each can move the cursor, start a line, or reorder what is shown. */
const STEERING = [
  ...['\u0000', '\u0007', '\u001b', '\r', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029'],
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
  ...['\u2066', '\u2067', '\u2068', '\u2069'],
];
const named = STEERING.map(
  (character) => [`U+${character.charCodeAt(0).toString(16).padStart(4, '0')}`, character] as const,
);

describe('text for a terminal', () => {
  it.each(named)('holds no %s', (_, character) => {
    for (const shown of [terminalLine, terminalText])
      expect(shown(`evil${character}txt.exe`)).toMatch(/^evil ?txt\.exe$/);
    const json = terminalJson({ key: character });
    expect(json).not.toContain(character);
    expect(JSON.parse(json)).toEqual({ key: character });
  });

  it('keeps lines, tabs and indentation where there may be several lines', () => {
    expect(terminalText('  a\tb\n  ünïcode 日本語')).toBe('  a\tb\n  ünïcode 日本語');
    expect(terminalLine(' a\n b\t')).toBe('a  b');
  });
});
