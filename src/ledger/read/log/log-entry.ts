import type { LedgerLine } from '../../../domain/delivery.js';
import { comparePositions, type LogOrder, type LogPosition } from './log-position.js';

/** A line of the log with its position. */
export interface LogEntry extends LogPosition {
  /** Receipt, in milliseconds since the epoch. */
  readonly received: number;
  readonly line: LedgerLine;
}

/** @param written when the store wrote its segment, in milliseconds since the epoch */
export function entryOf(line: LedgerLine, written: number): LogEntry {
  const { receivedAt, deliveryId, outcome } = line;
  return { written, received: Date.parse(receivedAt), id: deliveryId, outcome, line };
}

/** The entries of a step in their order. */
export function inOrder<Entry extends LogPosition>(entries: readonly Entry[], order: LogOrder): Entry[] {
  return entries.toSorted(order === 'oldest' ? comparePositions : (a, b) => comparePositions(b, a));
}

/** A part of the log that was looked at. */
export interface LogStep {
  /** What matches, in order. */
  readonly entries: readonly LogEntry[];
  /** Everything up to here was looked at: what comes next is behind it in the order of reading. */
  readonly at: LogPosition;
}

/** A part of the log that is read step by step. */
export interface LogScan {
  /** Nothing of it comes before this in the order of reading. */
  readonly begin: LogPosition;
  readonly steps: AsyncIterator<LogStep>;
}
