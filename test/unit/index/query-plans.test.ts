import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { afterAll, expect, it } from '@jest/globals';
import { createApplySegments } from '../../../src/index/apply/apply-segments.js';
import { deleteHoursBefore } from '../../../src/index/fill/delete-hours.js';
import { createLineClasses } from '../../../src/index/line-classes.js';
import { WHOLE } from '../../../src/index/queries/align-period.js';
import { createIndexQuestions } from '../../../src/index/queries/index-questions.js';
import { SCHEMA } from '../../../src/index/schema.js';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';

/** Notes the statements that are prepared. */
class NotingDatabase extends DatabaseSync {
  readonly noted = new Set<string>();

  override prepare(sql: string): StatementSync {
    this.noted.add(sql);
    return super.prepare(sql);
  }
}

/** Tables with a row for each line, value of a context, attempt, body, failing job or segment. */
const LARGE = [
  'lines',
  'contexts',
  'context_values',
  'attempts',
  'bodies',
  'body_acts',
  'failures',
  'segments',
];
/** Names tables as the statements do that read it. */
const [VIEW] = /CREATE VIEW[^;]*/.exec(SCHEMA) ?? [];
/** A search of rows that have a job or an event in common, or of a range. That a job is not null is none. */
const NARROW =
  /name=\? AND value=|run=\? AND number=|\b(?:job|event|delivery|rowid|line)=|\b(?!job)\w+[<>]|\)[<>]/;

/** The large tables that SQLite goes through for a statement, or through all of a class, a subscriber and the like: table and step. */
function goneThrough(sql: string): [table: string, step: string][] {
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  const steps = plan.map(({ detail }) => String(detail));
  // Rows in the order of an index are read up to the limit.
  const isSorted = steps.some((step) => /TEMP B-TREE FOR (?:ORDER|GROUP)/.test(step));
  const isPage = /\bLIMIT\b/.test(sql) && !isSorted;
  return steps.flatMap((step): [string, string][] => {
    const [, how, name, bounds = ''] = /^(SCAN|SEARCH) (\w+)(?:.*? (\(.*\)))?/.exec(step) ?? [];
    const table = LARGE.find(
      (each) => each === name || new RegExp(`\\b${each} (?:AS )?${name}\\b`).test(`${sql} ${VIEW}`),
    );
    const isBounded = isPage || (how === 'SEARCH' && NARROW.test(bounds));
    return how === undefined || table === undefined || isBounded ? [] : [[table, step]];
  });
}

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');
const EVENT = '01K4EXAMP00000000000000000';
const RANGE = { since: HOUR, until: HOUR + 90_000 };
const CUSTOMER = { name: 'customer', value: 'acme' };
const SUMMARY = { range: RANGE, parts: WHOLE, limit: 9, refusals: [], lastSince: HOUR };
const SCOPE = new Set(['intake']);

const database = new NotingDatabase(':memory:');
database.exec(SCHEMA);
const classes = createLineClasses(database);
const questions = createIndexQuestions((work) => work({ database, classes }));
type Questions = typeof questions;
afterAll(() => database.close());

/** Each question with the filters that change its statements: one that is added does not compile before it is here. */
const ASKED: { readonly [Name in keyof Questions]: readonly Parameters<Questions[Name]>[] } = {
  state: [[]],
  allMissing: [[]],
  countLines: [[]],
  findLines: [
    [{ limit: 50 }],
    [{ limit: 50, ...RANGE, before: { written: HOUR, writer: 'w', number: 1, line: 1 } }],
    [{ limit: 50, scope: SCOPE }],
    [{ limit: 50, job: 'job' }],
    [{ limit: 50, job: 'job', context: CUSTOMER, scope: SCOPE }],
    [{ limit: 50, context: CUSTOMER, ...RANGE }],
  ],
  findFailures: [[{}], [{ limit: 1, outcome: ['failed', 'refused'], after: [HOUR, 'job'], givenUpBy: HOUR }]],
  failurePage: [
    [{ limit: 50, after: null }],
    [{ limit: 50, after: [HOUR, 'job'], cause: 'overloaded', scope: SCOPE }],
  ],
  failingJobs: [[{ since: HOUR, outcome: ['failed', 'refused'] }]],
  missedJobs: [[{ jobs: ['job'], since: HOUR }]],
  findBodies: [[{ limit: 50 }], [{ limit: 50, state: 'waiting', scope: SCOPE }], [{ limit: 50, job: 'job' }]],
  countBodies: [[HOUR]],
  knowsName: [
    ['source', 'intake', null],
    ['context', 'customer', SCOPE],
  ],
  matchJobs: [
    [{ text: 'job', match: 'whole', names: ['call', 'customer'], limit: 20 }],
    [{ text: '7', match: 'part', names: [], limit: 20, scope: SCOPE }],
  ],
  summarise: [
    [{ ...SUMMARY, by: 'cause' }],
    [{ ...SUMMARY, by: { begin: HOUR, width: 1000, count: 9 } }],
    [{ ...SUMMARY, by: 'source', context: CUSTOMER }],
    [{ ...SUMMARY, by: 'context.customer' }],
    [{ ...SUMMARY, by: 'context.customer', context: CUSTOMER }],
  ],
  countCallbacks: [[{ now: HOUR }]],
  countJobs: [[{ since: HOUR }]],
  eventsOfJob: [['job']],
  findEvents: [
    [{ subscriber: 'crm', limit: 50 }],
    [{ subscriber: 'crm', limit: 50, job: 'job' }],
    [
      {
        subscriber: 'crm',
        limit: 50,
        outcome: 'rejected',
        source: 'intake',
        ...RANGE,
        before: [HOUR, EVENT],
      },
    ],
  ],
  sourcesOfEvents: [['crm', [EVENT]]],
  eventFigures: [['crm']],
  countUntried: [
    [
      {
        subscriber: 'crm',
        events: ['job.failed'],
        sources: [],
        before: HOUR,
        hours: { [hourAt(HOUR)]: { w: 0 } },
      },
    ],
    [{ subscriber: 'crm', events: ['job.failed'], sources: [], before: HOUR, hours: {} }],
  ],
  findSources: [['job']],
};

/** Tables that are scanned all the same. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  // An index does not find a part of an id or a value; of the values that have it, those of the newest lines are listed.
  matchJobs: ['lines', 'context_values', 'contexts'],
  // It sums all values of a name, in a worker of its own.
  summarise: ['context_values', 'contexts'],
  // All failing jobs are listed.
  failurePage: ['failures'],
  failingJobs: ['failures'],
  countBodies: ['bodies'],
  // All that a subscriber was sent is counted.
  eventFigures: ['attempts'],
  // The hours that a sender has not come to are counted.
  countUntried: ['attempts'],
  // It reads all lines of an hour that make a job fail, and whether a value still has a line.
  deleteHours: ['segments', 'failures', 'attempts', 'contexts'],
};

/** Lines of several classes, a body and attempts: the plan of a statement depends on how many classes it names. */
function applyLines(): void {
  const outcomes = ['stored', 'failed', 'refused', 'quarantined', 'released'] as const;
  const lines = outcomes.flatMap((outcome) =>
    ['intake', 'elsewhere'].map((source) =>
      ledgerLine({ deliveryId: EVENT, status: 'error', source, outcome, context: { customer: 'acme' } }),
    ),
  );
  const recovered = ledgerLine({
    origin: 'recovery',
    outcome: 'recovered',
    receivedAt: new Date(HOUR).toISOString(),
    items: [],
    context: { customer: 'acme' },
  });
  const act = ledgerLine({ origin: 'admin', outcome: 'acknowledged', actor: 'alice' });
  const attempt = {
    v: 1,
    event: EVENT,
    jobId: 'job',
    source: 'intake',
    type: 'job.stored',
    at: new Date(HOUR).toISOString(),
    status: 200,
    error: null,
    attempt: 1,
    ended: 'delivered',
    durationMs: 1,
    line: segmentKey({ hour: hourAt(HOUR), writer: 'w', number: 1 }),
  };
  const segment = (writer: string, content: readonly unknown[]) => ({
    hour: HOUR,
    writer,
    number: 1,
    written: HOUR,
    content: Buffer.from(content.map((each) => `${JSON.stringify(each)}\n`).join('')),
  });
  apply([segment('w', [...lines, recovered, act]), segment('crm/w', [attempt])]);
}

const apply = createApplySegments(database, classes);
const WORK: Readonly<Record<string, () => void>> = {
  apply: applyLines,
  ...Object.fromEntries(
    Object.entries(ASKED).map(([name, calls]) => [
      name,
      () => {
        const ask = questions[name as keyof Questions] as (...values: readonly unknown[]) => unknown;
        for (const values of calls) ask(...values);
      },
    ]),
  ),
  deleteHours() {
    for (const _step of deleteHoursBefore(database, HOUR + 1));
  },
};

it.each(Object.keys(WORK))('%s goes through no large table but those it has to', (name) => {
  if (name !== 'apply') database.noted.clear();
  WORK[name]?.();
  const expected = EXPECTED[name] ?? [];
  const found = [...database.noted].flatMap(goneThrough);
  expect(found.filter(([table]) => !expected.includes(table))).toEqual([]);
  expect(found.map(([table]) => table)).toEqual(expect.arrayContaining([...expected]));
});
