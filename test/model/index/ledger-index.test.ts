import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createApplySegments } from '../../../src/index/apply/apply-segments.js';
import type { SegmentContent } from '../../../src/index/apply/segment-content.js';
import { createLedgerIndex } from '../../../src/index/ledger-index.js';
import { createLineClasses } from '../../../src/index/line-classes.js';
import { openDatabase } from '../../../src/index/open-database.js';
import { HOUR } from '../../../src/ledger/hours.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { drawnQuery, expectAnswers } from './expect-answers.js';
import { drawnLedger, FIRST, writeLedger } from './indexed-ledger.js';

/**
 * The index against a plain loop over all lines: random ledgers, whose hours come in any order and in any batches, with processes that are
 * killed between any two statements, numbers that are missing for a while, and segments that come again.
 */

/** A database whose process is killed at a statement. */
function dying(database: DatabaseSync, statements: number): DatabaseSync {
  let left = statements;
  const count = () => {
    left -= 1;
    if (left < 0) throw new Error('killed');
  };
  const statementOf = (statement: StatementSync) =>
    new Proxy(statement, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]) => {
          count();
          return Reflect.apply(value, target, values);
        };
      },
    });
  return new Proxy(database, {
    get(target, name) {
      if (name === 'prepare') return (sql: string) => statementOf(target.prepare(sql));
      if (name === 'isTransaction') return false;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Gives segments to a process that dies on the way; what it had not committed is rolled back. */
function applyAndDie(path: string, segments: readonly SegmentContent[], statements: number): void {
  const database = openDatabase(path, 'store');
  try {
    const own = dying(database, statements);
    createApplySegments(own, createLineClasses(database))(segments);
  } catch (error) {
    if (!(error instanceof Error) || error.message !== 'killed') throw error;
  } finally {
    database.close();
  }
}

describe('the index', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  it('answers as a plain loop over all lines does, in whatever order hours come and whenever the process is killed', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        drawnLedger,
        fc.array(drawnQuery, { minLength: 4, maxLength: 8 }),
        fc.record({
          order: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }),
          batch: fc.integer({ min: 1, max: 6 }),
          late: fc.array(fc.nat(), { maxLength: 3 }),
          deaths: fc.array(fc.record({ at: fc.nat(), statements: fc.nat(120) }), { maxLength: 3 }),
        }),
        async (drawn, queries, { order, batch, late, deaths }) => {
          run += 1;
          const path = `${folder.path}/${run}.sqlite`;
          const { segments, lines, attempts } = writeLedger(drawn);
          const isLate = new Set(late.map((each) => each % segments.length));
          const inOrder = order.flatMap((hour) =>
            segments.filter((each, at) => each.hour === FIRST + hour * HOUR && !isLate.has(at)),
          );
          const steps = [...inOrder, ...segments.filter((_, at) => isLate.has(at))];
          let index = createLedgerIndex(path, 'store');
          for (let at = 0; at < steps.length; at += batch) {
            const part = steps.slice(at, at + batch);
            for (const death of deaths) {
              if (death.at % steps.length < at || death.at % steps.length >= at + batch) continue;
              index.close();
              applyAndDie(path, part, death.statements);
              index = createLedgerIndex(path, 'store');
            }
            index.apply(part);
          }
          index.saveRange({ since: null, until: FIRST + 5 * HOUR });
          await expectAnswers(index, lines, queries, attempts);
          index.apply(steps);
          await expectAnswers(index, lines, queries.slice(0, 2), attempts);
          expect(index.state().missing).toEqual([]);
          index.close();
        },
      ),
      { numRuns: 100, endOnFailure: true },
    );
  }, 240_000);
});
