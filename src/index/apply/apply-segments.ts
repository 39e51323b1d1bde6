import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import { subscriberOf } from '../../ledger/segment-key.js';
import { createBodyRows, kindsOf } from '../bodies/body-rows.js';
import { inTransaction } from '../in-transaction.js';
import type { LineClasses } from '../line-classes.js';
import { LINES } from '../schema.js';
import { createAttemptRows } from './attempt-rows.js';
import { createContextRows } from './context-rows.js';
import { createFailureRows } from './failure-rows.js';
import { createFigureSums, lineFigures, numberOf } from './figure-sums.js';
import { createPositions } from './positions.js';
import { type ReadLine, readContent } from './read-content.js';
import type { SegmentContent } from './segment-content.js';

/**
 * Takes segments in any order of hours; those of a writer within an hour come in the order of their numbers, and a number that was missing
 * may come later. The rows and the positions behind them are one transaction. What is in already is passed over, so that a caller that does
 * not know how far it came, or what was repaired, may give a segment again.
 */
export type ApplySegments = (segments: readonly SegmentContent[]) => void;

export function createApplySegments(database: DatabaseSync, classes: LineClasses): ApplySegments {
  const positions = createPositions(database);
  const failures = createFailureRows(database, classes);
  const bodies = createBodyRows(database, classes);
  const sums = createFigureSums(database);
  const insertSegment = database.prepare('INSERT INTO segments (run, number, written) VALUES (?, ?, ?)');
  const findSegment = database.prepare('SELECT id, written FROM segments WHERE run = ? AND number = ?');
  const findLine = database.prepare(
    'SELECT 1 FROM lines WHERE id = ?1 UNION ALL SELECT 1 FROM attempts WHERE id = ?1',
  );
  const insertLine = database.prepare('INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const contexts = createContextRows(database);
  const attempts = createAttemptRows(database, positions);

  function applyLine(id: number, written: number, { line, start, length }: ReadLine): void {
    const lineClass = classes.of(line);
    const received = Date.parse(line.receivedAt);
    const job = typeof line.jobId === 'string' ? line.jobId : null;
    const took = lineClass.origin === 'callback' ? numberOf(line.durationMs) : null;
    const due = lineClass.origin === 'recovery' ? dueAt(line, received) : null;
    const kinds = kindsOf(line);
    const figures = lineFigures(line, took);
    insertLine.run(id, written, lineClass.id, job, received, figures.bytes, took, due, kinds, start, length);
    contexts.add({ id, written, lineClass: lineClass.id, ...figures }, line);
    sums.add(written, lineClass.id, figures);
    if (job === null) return;
    failures.add({ id, lineClass, job, received, begun: due ?? received, start, length }, line);
    bodies.add({ id, lineClass, job, received, kinds }, line);
  }

  function apply(segment: SegmentContent): void {
    if (segment.content === null) return positions.passMissing(segment);
    const run = positions.pass(segment);
    if (run === null) return;
    const { entries, attempts: sent, unreadable } = readContent(segment);
    if (unreadable > 0) positions.noteUnreadable(run, segment.number, unreadable);
    // A segment with lines that could not be read is in already, as is one of a failure that outlived its hour.
    const known = findSegment.get(run, segment.number);
    const id = Number(known?.id ?? insertSegment.run(run, segment.number, segment.written).lastInsertRowid);
    const written = Number(known?.written ?? segment.written);
    const isNew = ({ index }: { readonly index: number }) =>
      known === undefined || findLine.get(id * LINES + index) === undefined;
    for (const entry of entries.filter(isNew)) applyLine(id * LINES + entry.index, written, entry);
    const subscriber = subscriberOf(segment.writer) ?? '';
    for (const { line, index } of sent.filter(isNew)) attempts.add(id * LINES + index, subscriber, line);
  }

  return (segments) => {
    try {
      inTransaction(database, () => {
        for (const segment of segments) apply(segment);
        sums.save();
      });
    } catch (error) {
      sums.clear();
      classes.reload();
      throw error;
    }
  };
}

/** When the callback was expected of a job that recovery had to fetch; a line that does not say so counts when it was received. */
function dueAt({ expectedAt }: LedgerLine, received: number): number {
  const due = typeof expectedAt === 'string' ? Date.parse(expectedAt) : Number.NaN;
  return Number.isNaN(due) ? received : Math.min(due, received);
}
