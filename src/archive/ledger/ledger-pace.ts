/**
 * From here on the ledger costs about 4 % of a store write per line, and waiting for more is not worth it.
 * 24 is half of the 48 concurrent deliveries the goal of 1.05 writes per delivery is stated for: while one
 * half is being written, the other half gathers.
 */
const WELL_FILLED = 24;

/** Below this many lines in the last and the coming flush together, nobody is worth waiting for. */
const BUSY = 4;

/**
 * Decides how long a flush waits for company. A lone delivery never waits. Under load, up to a third of what
 * a write takes: that fills segments by a third more and costs no throughput, because callers that would
 * miss this flush by a hair no longer wait for a whole further one.
 */
export interface Pace {
  /** Settles when the flush should be written; `waiting` lines are there already. */
  gather(waiting: number): Promise<void>;
  arrived(waiting: number): void;
  wrote(lines: number, milliseconds: number): void;
  /** Ends a running wait: the ledger is being closed. */
  hurry(): void;
}

export function createPace(maxLinger: number): Pace {
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
    async gather(waiting) {
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
    hurry() {
      endWait?.();
    },
  };
}
