import type { SegmentLine } from './segment-writer.js';

/**
 * Number of lines with which a segment is written at once: the ledger then costs about 4 % of a store write per line, and more lines save
 * little. 24 is half of 48 concurrent deliveries, for which the goal is 1.05 writes per delivery: while one half is being
 * written, the other half arrives.
 */
const WELL_FILLED = 24;
/** Bounds of the pause under load, in milliseconds. A timer takes at least one. */
const SHORTEST_PAUSE = 1;
const LONGEST_PAUSE = 20;
/** Lines of the last and the next flush together, from which on the replica counts as busy. */
const BUSY = 4;

export interface QueuedLine extends SegmentLine {
  /** When it should be written at the latest, in milliseconds of `performance.now`. */
  readonly dueAt: number;
}

/**
 * Queues lines in order of arrival, and decides how long a segment waits for further ones: until its first line is due and, under load, up
 * to a third of the time of a write. That pause fills segments by a third more and costs no throughput, because callers that would just
 * miss this segment do not wait for a whole further one. Unless the configuration lets lines linger, a line is due when it arrives, so that
 * a lone delivery never waits.
 *
 * @param maxBytes of a segment
 * @param fullSegment when lines linger (`ledger.maxLinger`): number of lines that ends the wait, at least `WELL_FILLED`; null: no linger
 */
export function createLineQueue<Line extends QueuedLine>(maxBytes: number, fullSegment: number | null) {
  const full = Math.max(WELL_FILLED, fullSegment ?? 0);
  let waiting: Line[] = [];
  let waitingBytes = 0;
  let firstDue = Number.POSITIVE_INFINITY;
  let typicalWrite = 0;
  let lastLines = 0;
  let endWait = () => {};

  function linger(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => endWait(), milliseconds);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    lines: () => waiting.length,
    bytes: () => waitingBytes,
    add(line: Line): void {
      waiting.push(line);
      waitingBytes += line.bytes;
      firstDue = Math.min(firstDue, line.dueAt);
      const isDue = fullSegment !== null && firstDue <= performance.now();
      if (waiting.length >= full || isDue) endWait();
    },
    /** Resolves when the next segment should be written. */
    async untilReady(): Promise<void> {
      if (waiting.length >= full) return;
      const isBusy = lastLines + waiting.length >= BUSY;
      const pause = isBusy ? Math.max(SHORTEST_PAUSE, Math.min(typicalWrite / 3, LONGEST_PAUSE)) : 0;
      const milliseconds = Math.max(pause, firstDue - performance.now());
      if (milliseconds > 0) await linger(milliseconds);
    },
    /** Ends a wait immediately, when the ledger is closed. */
    endWait: () => endWait(),
    /** Removes the first lines that fit one segment, at least one. */
    take(): readonly Line[] {
      let count = 0;
      let bytes = 0;
      for (const line of waiting) {
        if (count > 0 && bytes + line.bytes > maxBytes) break;
        bytes += line.bytes;
        count += 1;
      }
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      waitingBytes -= bytes;
      firstDue = waiting.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY);
      return batch;
    },
    /** Call it after each write. */
    noteWrite(lines: number, milliseconds: number): void {
      lastLines = lines;
      typicalWrite = typicalWrite === 0 ? milliseconds : typicalWrite * 0.8 + milliseconds * 0.2;
    },
  };
}
