import { countBodies, findBodies } from '../bodies/find-bodies.js';
import { countLines, readMissing, readState } from '../index-state.js';
import type { ReadableIndex } from '../readable-index.js';
import { countUntried } from '../sent/count-untried.js';
import { eventFigures } from '../sent/event-figures.js';
import { eventsOfJob, findEvents, sourcesOfEvents } from '../sent/sent-events.js';
import { countCallbacks, countJobs } from './count-callbacks.js';
import { failingJobs, failurePage, missedJobs } from './failure-page.js';
import { findFailures } from './find-failures.js';
import { findLines } from './find-lines.js';
import { findSources } from './find-sources.js';
import { knowsName } from './knows-name.js';
import { matchJobs } from './match-jobs.js';
import { summarise } from './summarise.js';

/** The questions that an index answers, whichever process writes it. */
const QUESTIONS = {
  state: readState,
  allMissing: readMissing,
  countLines,
  findLines,
  matchJobs,
  findSources,
  knowsName,
  findFailures,
  failurePage,
  failingJobs,
  missedJobs,
  findBodies,
  countBodies,
  summarise,
  countCallbacks,
  countJobs,
  findEvents,
  eventsOfJob,
  sourcesOfEvents,
  eventFigures,
  countUntried,
};

type Questions = typeof QUESTIONS;
type Asked<Question> = Question extends (index: ReadableIndex, ...values: infer Values) => infer Result
  ? (...values: Values) => Result
  : never;
export type IndexQuestions = { readonly [Name in keyof Questions]: Asked<Questions[Name]> };

/** @param attempt runs a question on the index */
export function createIndexQuestions(
  attempt: <Result>(work: (given: ReadableIndex) => Result) => Result,
): IndexQuestions {
  const questions = Object.entries(QUESTIONS).map(([name, question]) => {
    const ask = question as (index: ReadableIndex, ...values: readonly unknown[]) => unknown;
    return [name, (...values: readonly unknown[]) => attempt((given) => ask(given, ...values))];
  });
  return Object.fromEntries(questions);
}
