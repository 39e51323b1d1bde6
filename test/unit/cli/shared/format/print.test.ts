import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { printJson, printLines, printNotes } from '../../../../../src/cli/shared/format/print.js';
import { standardOutput } from '../../../../../src/cli/shared/format/standard-output.js';

describe('the output of commands', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('lets no text of a sender steer the terminal, or look like a line of ours', () => {
    const written: string[] = [];
    jest.spyOn(standardOutput, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    printLines(['  a\u001b[2J\u202eb', 'c\n  d']);
    printJson({ reason: '\u202e\u2028' });
    expect(written).toEqual(['  a [2Jb\nc   d\n', '{\n  "reason": "\\u202e\\u2028"\n}\n']);
  });

  it('lets no answer of a store steer the terminal beside the output either', () => {
    const written: string[] = [];
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    printNotes('a\u001b[2Jb', 'c');
    expect(written).toEqual(['transcript-receiver: a [2Jb\n', 'transcript-receiver: c\n']);
  });
});
