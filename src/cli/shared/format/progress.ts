import { terminalLine } from '../../../lib/text/terminal-text.js';

export type Progress = ReturnType<typeof createProgress>;

/** Milliseconds between two updates. */
const EVERY_MS = 100;

/** A progress line on standard error; nothing when it is not a terminal. */
export function createProgress() {
  const { stderr } = process;
  let shownAt = 0;
  let shown = false;
  return {
    show(text: string): void {
      const now = performance.now();
      if (!stderr.isTTY || (shown && now - shownAt < EVERY_MS)) return;
      stderr.write(`\r\x1b[K${terminalLine(text)}`);
      shownAt = now;
      shown = true;
    },
    /** Removes the line. */
    end(): void {
      if (shown) stderr.write('\r\x1b[K');
      shown = false;
    },
  };
}
