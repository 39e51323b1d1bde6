import { terminalLine } from '../../../lib/text/terminal-text.js';

/** A progress line on standard error; nothing when it is not a terminal. */
export interface Progress {
  show(text: string): void;
  /** Removes the line. */
  end(): void;
}

/** Milliseconds between two updates. */
const EVERY_MS = 100;

export function createProgress(): Progress {
  const { stderr } = process;
  let shownAt = 0;
  let shown = false;
  return {
    show(text) {
      const now = performance.now();
      if (!stderr.isTTY || (shown && now - shownAt < EVERY_MS)) return;
      stderr.write(`\r\x1b[K${terminalLine(text)}`);
      shownAt = now;
      shown = true;
    },
    end() {
      if (shown) stderr.write('\r\x1b[K');
      shown = false;
    },
  };
}
