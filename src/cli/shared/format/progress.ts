import { terminalLine } from '../../../lib/text/terminal-text.js';

/** A progress line on standard error; nothing when it is not a terminal. */
export interface Progress {
  show(text: string): void;
  /** Removes the line. */
  end(): void;
}

/** Milliseconds between two updates. */
const EVERY_MS = 100;

export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let shownAt = 0;
  let shown = false;
  return {
    show(text) {
      const now = performance.now();
      if (!stream.isTTY || (shown && now - shownAt < EVERY_MS)) return;
      stream.write(`\r\x1b[K${terminalLine(text)}`);
      shownAt = now;
      shown = true;
    },
    end() {
      if (shown) stream.write('\r\x1b[K');
      shown = false;
    },
  };
}
