import type { DatabaseSync } from 'node:sqlite';
import type { SourceScope } from '../../domain/rights.js';
import { type BodyQuery, countBodies, findBodies } from '../bodies/find-bodies.js';
import { countLines, type IndexState, readState } from '../index-state.js';
import type { LineClasses } from '../line-classes.js';
import { placesOf } from '../line-places.js';
import { type BehindQuery, countBehind } from '../sent/count-behind.js';
import { eventFigures } from '../sent/event-figures.js';
import { type EventQuery, eventsOfJob, factsOfEvents, findEvents } from '../sent/sent-events.js';
import { type CountCallbacksQuery, countCallbacks } from './count-callbacks.js';
import { failingJobs, failurePage, findSettled, type SettledQuery } from './failure-page.js';
import { type FailuresQuery, findFailures, type IndexedFailure } from './find-failures.js';
import { findJobsByPart } from './find-jobs-by-part.js';
import { findLines, type LineQuery } from './find-lines.js';
import { knowsName, type NamedField } from './knows-name.js';
import { lastAccepted } from './last-accepted.js';
import { countActs, countMissed, missedByContext, type SumQuery, sumLines } from './sum-lines.js';

/** What a question reads. */
export interface AskedIndex {
  readonly database: DatabaseSync;
  readonly classes: LineClasses;
}

/**
 * The questions that an index answers, whoever writes it.
 *
 * @param attempt gives a question what it reads
 */
export function createIndexQuestions(attempt: <Result>(work: (given: AskedIndex) => Result) => Result) {
  return {
    state: (): IndexState => attempt(({ database }) => readState(database)),
    countLines: (): number => attempt(({ database }) => countLines(database)),
    findLines: (query: LineQuery) => attempt(({ database, classes }) => findLines(database, classes, query)),
    findFailures: (query: FailuresQuery = {}): IndexedFailure[] =>
      attempt(({ database, classes }) => findFailures(database, classes, query)),
    failurePage: (query: Parameters<typeof failurePage>[2]) =>
      attempt(({ database, classes }) => failurePage(database, classes, query)),
    failingJobs: (query: Parameters<typeof failingJobs>[2]) =>
      attempt(({ database, classes }) => failingJobs(database, classes, query)),
    findSettled: (query: SettledQuery): string[] =>
      attempt(({ database, classes }) => findSettled(database, classes, query)),
    findBodies: (query: BodyQuery) =>
      attempt(({ database, classes }) => findBodies(database, classes, query)),
    countBodies: (since: number) => attempt(({ database }) => countBodies(database, since)),
    knowsName: (field: NamedField, value: string, scope: SourceScope): boolean =>
      attempt(({ classes }) => knowsName(classes, field, value, scope)),
    findJobsByPart: (query: Parameters<typeof findJobsByPart>[2]) =>
      attempt(({ database, classes }) => findJobsByPart(database, classes, query)),
    lastAccepted: (query: Parameters<typeof lastAccepted>[2]) =>
      attempt(({ database, classes }) => lastAccepted(database, classes, query)),
    sumLines: (query: SumQuery) => attempt(({ database, classes }) => sumLines(database, classes, query)),
    countMissed: (query: Parameters<typeof countMissed>[2]) =>
      attempt(({ database, classes }) => countMissed(database, classes, query)),
    missedByContext: (query: Parameters<typeof missedByContext>[2]) =>
      attempt(({ database, classes }) => missedByContext(database, classes, query)),
    countActs: (query: Parameters<typeof countActs>[2]) =>
      attempt(({ database, classes }) => countActs(database, classes, query)),
    placesOf: (lines: readonly number[]) => attempt(({ database }) => placesOf(database, lines)),
    countCallbacks: (query: CountCallbacksQuery) =>
      attempt(({ database, classes }) => countCallbacks(database, classes, query)),
    eventsOfJob: (job: string) => attempt(({ database }) => eventsOfJob(database, job)),
    findEvents: (query: EventQuery) => attempt(({ database }) => findEvents(database, query)),
    factsOfEvents: (subscriber: string, events: readonly string[]) =>
      attempt(({ database }) => factsOfEvents(database, subscriber, events)),
    eventFigures: (subscriber: string) => attempt(({ database }) => eventFigures(database, subscriber)),
    countBehind: (query: BehindQuery) =>
      attempt(({ database, classes }) => countBehind(database, classes, query)),
    sourcesOfJob: (job: string): string[] =>
      attempt(({ database, classes }) => sourcesOfJob(database, classes, job)),
  };
}

/** The sources that a job has lines of. */
function sourcesOfJob(database: DatabaseSync, classes: LineClasses, job: string): string[] {
  const rows = database.prepare('SELECT DISTINCT class FROM lines WHERE job = ?').all(job);
  return [...new Set(rows.flatMap((row) => classes.byId(Number(row.class)).source ?? []))];
}
