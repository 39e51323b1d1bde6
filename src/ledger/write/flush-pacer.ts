/**
 * Lines that fill a segment well enough: the ledger then costs about 4 % of a store write per line, and more lines save
 * little. 24 is half of 48 concurrent deliveries, for which the goal is 1.05 writes per delivery: while one half is being
 * written, the other half arrives.
 */
const WELL_FILLED = 24;

/** Longest pause under load, in milliseconds. */
const LONGEST_PAUSE = 20;

/** A timer takes a millisecond at least: shorter pauses than half of that are left out. */
const SHORTEST_PAUSE = 0.5;

/** Lines in the last and the next flush together, below which the replica counts as idle. */
const BUSY = 4;

/**
 * Decides how long a flush waits for further lines: until its first line is due and, under load, up to a third of the
 * time of a write. That pause fills segments by a third more and costs no throughput, because callers that would just
 * miss this flush no longer wait for a whole further one. Unless the configuration lets lines linger, a line is due when
 * it arrives, so that a lone delivery never waits.
 */
export interface FlushPacer {
  /**
   * Settles when the flush should be written. `waiting` lines have arrived already; the first is due at `dueAt`, in
   * milliseconds of `performance.now`.
   */
  waitForLines(waiting: number, dueAt: number): Promise<void>;
  arrived(waiting: number, dueAt: number): void;
  wrote(lines: number, milliseconds: number): void;
  /** Ends a wait at once: the ledger is being closed. */
  cancelWait(): void;
}

/**
 * @param fullSegment where the configuration lets lines wait on an idle replica, too (`ledger.maxLinger`): lines at which a segment
 *   is written at once, at least `WELL_FILLED`. Default: lines do not linger
 */
export function createFlushPacer(fullSegment: number | null = null): FlushPacer {
  const lingers = fullSegment !== null;
  const full = Math.max(WELL_FILLED, fullSegment ?? 0);
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

  function pauseUnderLoad(waiting: number): number {
    return lastLines + waiting < BUSY ? 0 : Math.min(LONGEST_PAUSE, typicalWrite / 3);
  }

  return {
    async waitForLines(waiting, dueAt) {
      if (waiting >= full) return;
      const milliseconds = Math.max(pauseUnderLoad(waiting), dueAt - performance.now());
      if (milliseconds >= SHORTEST_PAUSE) await linger(milliseconds);
    },
    arrived(waiting, dueAt) {
      if (waiting >= full || (lingers && dueAt <= performance.now())) endWait?.();
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
