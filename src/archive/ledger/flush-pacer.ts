/**
 * Lines that fill a segment well enough: the ledger then costs about 4 % of a store write per line, and more lines save
 * little. 24 is half of 48 concurrent deliveries, for which the goal is 1.05 writes per delivery: while one half is being
 * written, the other half arrives.
 */
const WELL_FILLED = 24;

/** With fewer lines than this in the last and the next flush together, the replica counts as idle. */
const BUSY = 4;

/**
 * Decides how long a flush waits for further lines. A lone delivery never waits. Under load a flush waits up to a third
 * of the time of a write: that fills segments by a third more and costs no throughput, because callers that would just
 * miss this flush no longer wait for a whole further one.
 */
export interface FlushPacer {
  /** Settles when the flush should be written; `waiting` lines have arrived already. */
  waitForLines(waiting: number): Promise<void>;
  arrived(waiting: number): void;
  wrote(lines: number, milliseconds: number): void;
  /** Ends a wait at once: the ledger is being closed. */
  cancelWait(): void;
}

export function createFlushPacer(maxLinger: number): FlushPacer {
  let typicalWrite = 0;
  let lastLines = 0;
  let endWait: (() => void) | null = null;

  function linger(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, milliseconds);
      function end(): void {
        clearTimeout(timer);
        endWait = null;
        resolve();
      }
      endWait = end;
    });
  }

  return {
    async waitForLines(waiting) {
      const milliseconds = Math.min(maxLinger, typicalWrite / 3);
      if (milliseconds < 1 || waiting >= WELL_FILLED || lastLines + waiting < BUSY) return;
      await linger(milliseconds);
    },
    arrived(waiting) {
      if (waiting >= WELL_FILLED) endWait?.();
    },
    wrote(lines, milliseconds) {
      lastLines = lines;
      typicalWrite = typicalWrite === 0 ? milliseconds : typicalWrite * 0.8 + milliseconds * 0.2;
    },
    cancelWait() {
      endWait?.();
    },
  };
}
