import { terminalJson, terminalLine } from '../../lib/text/terminal-text.js';
import type { TranscriptSegment } from '../../speech/realtime/transcript/transcript-segment.js';

export interface Screen {
  segment(segment: TranscriptSegment): void;
  /** A line beside the transcript, on standard error. */
  note(text: string): void;
  /** A document for programs, on standard output. */
  json(value: unknown): void;
  /** Removes an unconfirmed partial from the screen. */
  end(): void;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * Shows a transcript as it comes: finals as lines on standard output; partials only on a terminal, in a line
 * that the next one overwrites. `quiet` leaves standard output to one JSON document at the end.
 */
export function createCaptureScreen(out: Output, errors: Output, quiet: boolean): Screen {
  const live = out.isTTY === true && !quiet;
  let shown = false;
  const erase = (): void => {
    if (shown) out.write('\r\u001b[K');
    shown = false;
  };
  return {
    segment({ kind, text, speaker }) {
      const line = terminalLine(`${speaker === null ? '' : `${speaker}: `}${text}`);
      if (quiet || line === '' || (kind === 'partial' && !live)) return;
      erase();
      if (kind === 'final') out.write(`${line}\n`);
      else out.write(`\u001b[2m${line.slice(1 - (out.columns ?? 80))}\u001b[0m`);
      shown = kind === 'partial';
    },
    note(text) {
      erase();
      errors.write(`${terminalLine(text)}\n`);
    },
    json: (value) => void out.write(`${terminalJson(value)}\n`),
    end: erase,
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
    get isTTY() {
      return stream.isTTY && !broken;
    },
    get columns() {
      return stream.columns;
    },
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
