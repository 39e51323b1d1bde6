import type { DatabaseSync } from 'node:sqlite';
import type { SegmentContent } from './segment-content.js';

type Numbered = Pick<SegmentContent, 'hour' | 'writer' | 'number'>;

export type Positions = ReturnType<typeof createPositions>;

/** Positions of the index in the log: one number for each writer of an hour, and the missing numbers before it. */
export function createPositions(database: DatabaseSync) {
  const begin = database.prepare('INSERT OR IGNORE INTO runs (hour, writer, number) VALUES (?, ?, 0)');
  const find = database.prepare('SELECT id, number FROM runs WHERE hour = ? AND writer = ?');
  const move = database.prepare('UPDATE runs SET number = ? WHERE id = ?');
  const insertMissing = database.prepare('INSERT INTO missing VALUES (?, ?, ?, ?)');
  const findMissing = database.prepare(
    'SELECT first, last FROM missing WHERE run = ? AND first <= ? AND last >= ?',
  );
  const extendMissing = database.prepare(
    'UPDATE missing SET last = ? WHERE run = ? AND last = ? AND lines = 0',
  );
  const deleteMissing = database.prepare('DELETE FROM missing WHERE run = ? AND first = ?');

  function positionOf({ hour, writer }: Numbered): [run: number, position: number] {
    begin.run(hour, writer);
    const { id, number } = find.get(hour, writer) ?? {};
    return [Number(id), Number(number)];
  }

  /** Returns whether the number, or lines of it, were missing, and removes it from the missing ones. */
  function fill(run: number, number: number): boolean {
    const gap = findMissing.get(run, number, number);
    if (gap === undefined) return false;
    const first = Number(gap.first);
    const last = Number(gap.last);
    deleteMissing.run(run, first);
    if (first < number) insertMissing.run(run, first, number - 1, 0);
    if (last > number) insertMissing.run(run, number + 1, last, 0);
    return true;
  }

  /** Advances the position to `last`; the numbers in between are missing. */
  function markMissing(run: number, position: number, last: number): void {
    if (last <= position) return;
    const { changes } = extendMissing.run(last, run, position);
    if (changes === 0) insertMissing.run(run, position + 1, last, 0);
    move.run(last, run);
  }

  return {
    /**
     * Advances the position to a segment; numbers in between become missing. Returns the id of its run, or null when the index has all of
     * the segment.
     */
    advance(segment: Numbered): number | null {
      const { number } = segment;
      const [run, position] = positionOf(segment);
      if (number <= position) return fill(run, number) ? run : null;
      markMissing(run, position, number - 1);
      move.run(number, run);
      return run;
    },
    /** Advances the position to a segment that is missing itself. */
    advanceMissing(segment: Numbered): void {
      markMissing(...positionOf(segment), segment.number);
    },
    /** Id of the run of a segment that may not be in the index yet. */
    runOf: (segment: Numbered) => positionOf(segment)[0],
    /** Records how many lines of a segment cannot be read. */
    noteUnreadable: (run: number, number: number, lines: number) =>
      void insertMissing.run(run, number, number, lines),
  };
}
