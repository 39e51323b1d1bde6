import { terminalJson, terminalLine } from '../../lib/text/terminal-text.js';
import type { TranscriptSegment } from '../../speech/realtime/transcript/transcript-segment.js';

export type Screen = ReturnType<typeof createCaptureScreen>;

interface Output {
  write(text: string): unknown;
}

/** Shows final segments as they come, as lines on standard output. `quiet` leaves that to one JSON document at the end. */
export function createCaptureScreen(out: Output, errors: Output, quiet: boolean) {
  return {
    segment({ kind, text, speaker }: TranscriptSegment): void {
      const line = terminalLine(`${speaker === null ? '' : `${speaker}: `}${text}`);
      if (!quiet && line !== '' && kind === 'final') out.write(`${line}\n`);
    },
    /** A line beside the transcript, on standard error. */
    note: (text: string) => void errors.write(`${terminalLine(text)}\n`),
    /** A document for programs, on standard output. */
    json: (value: unknown) => void out.write(`${terminalJson(value)}\n`),
  };
}

/**
 * An output that stops printing after a write error: a reader that has ended (`| head -1`), a closed terminal, a full
 * disk behind a redirection.
 */
export function ignoringWriteErrors(stream: NodeJS.WriteStream): Output {
  let broken = false;
  stream.on('error', () => {
    broken = true;
  });
  return {
    write(text) {
      if (broken) return;
      try {
        stream.write(text);
      } catch {
        // Writes to files are synchronous and throw.
        broken = true;
      }
    },
  };
}
