import type { FollowedHour } from '../../ledger/read/log/follow-log.js';
import type { FileProgress, HourProgress } from '../outbox-state.js';

/** How far one hour was read. What is read is settled later, and only what is settled is remembered. */
export interface HourPosition extends FollowedHour {
  /** Compacted files that are needed, by their numbers. */
  readonly files: Map<string, FileProgress>;
  /** A segment was read. Call the result once its events are settled. */
  advance(writer: string, number: number): () => void;
  /** The last segment that was read of a writer is read again. */
  goBack(writer: string, number: number): void;
  progress(): HourProgress;
}

export function createHourPosition(hour: string, given?: HourProgress): HourPosition {
  const read = new Map(Object.entries(given?.writers ?? {}));
  const files = new Map(Object.entries(given?.files ?? {}));
  const open = new Map<string, Set<number>>();

  /** Everything up to it is settled. */
  function settled(writer: string): number {
    const last = read.get(writer) ?? 0;
    return Math.min(last, ...[...(open.get(writer) ?? [])].map((number) => number - 1));
  }

  return {
    hour,
    read,
    files,
    advance(writer, number) {
      read.set(writer, number);
      const numbers = open.get(writer) ?? new Set();
      open.set(writer, numbers.add(number));
      return () => void numbers.delete(number);
    },
    goBack(writer, number) {
      read.set(writer, number - 1);
      open.get(writer)?.delete(number);
    },
    progress() {
      const writers = Object.fromEntries([...read.keys()].map((writer) => [writer, settled(writer)]));
      return { writers, files: Object.fromEntries(files) };
    },
  };
}
