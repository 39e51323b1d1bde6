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
 * Adds segments in any order of hours. Those of a writer within an hour come in the order of their numbers; a missing one may come later.
 * Rows and positions are one transaction. Lines that the index has are skipped, so that a caller that does not know its progress, or what
 * was repaired, may pass a segment again.
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
    if (segment.content === null) return positions.advanceMissing(segment);
    const run = positions.advance(segment);
    if (run === null) return;
    const { entries, attempts: sent, unreadable } = readContent(segment);
    if (unreadable > 0) positions.noteUnreadable(run, segment.number, unreadable);
    // The index has the segment already when lines of it could not be read, or when one of its failures outlived the hour.
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

/** When the callback of a job that recovery had to fetch was expected; the receipt of the line when it does not say so. */
function dueAt({ expectedAt }: LedgerLine, received: number): number {
  const due = typeof expectedAt === 'string' ? Date.parse(expectedAt) : Number.NaN;
  return Number.isNaN(due) ? received : Math.min(due, received);
}
