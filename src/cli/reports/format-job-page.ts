import { describeDelivery } from '../../domain/event-attempts.js';
import { type JobState, NO_SERVICE_RECORD } from '../../domain/job-state.js';
import { disputed, isConflict, otherVersions } from '../../domain/next-steps.js';
import { reasonInWords } from '../../domain/reasons.js';
import { exactBytes, omittedInWords, omittedOf, tooLargeInWords } from '../../domain/submitted-words.js';
import { notIndexedInWords } from '../../index/index-extent.js';
import type { Job, JobMatches, ListedArtefact } from '../../operations/answers/jobs.js';

/** Newest lines of the timeline that are printed. */
const SHOWN = 50;

/** @param job null for an unknown one @param location of the store */
export function formatJobPage(
  jobId: string,
  job: Job | null,
  { word, text, steps }: JobState,
  location: string,
): string[] {
  return [
    `Job ${jobId}: ${word}`,
    text,
    ...(job === null ? [] : knownOf(job, location)),
    ...(steps.length === 0 ? [] : ['', 'What to do next']),
    ...steps.flatMap(({ words, command }) => [`  ${words}`, `    ${command}`]),
  ];
}

/** The jobs that match a text that is not an id. */
export function formatJobMatches(text: string, { jobs, more, index }: JobMatches): string[] {
  return [
    `No job has the id ${text}. It fits these jobs:`,
    ...jobs.map(({ jobId, context, receivedAt, outcome }) => {
      const values = Object.entries(context ?? {}).map(([name, value]) => `${name}=${value}`);
      return `  ${receivedAt}  ${outcome.padEnd(12)}  ${jobId}  ${values.join(' ')}`.trimEnd();
    }),
    ...(more ? [`These are ${jobs.length}; more may match.`] : []),
    ...noteOf(index),
  ];
}

function knownOf(job: Job, location: string): string[] {
  const { artefacts, lost, timeline, events, isCut, service, serviceAnswer, index } = job;
  return [
    ...contextOf(timeline),
    ...(artefacts.length === 0 ? [] : ['', `Artefacts in ${location}`, ...artefactRows(artefacts)]),
    ...(lost.length === 0 ? [] : ['', `Lost from ${location}`, ...lost.map(lostRow)]),
    ...(timeline.length === 0 ? [] : ['', 'Timeline', ...timelineRows(timeline)]),
    ...(events.length === 0 ? [] : ['', 'Subscribers', ...events.map(eventRow)]),
    ...(isCut ? ['The job has older lines: see transcript-receiver deliveries --job.'] : []),
    ...noteOf(index),
    '',
    ...(serviceAnswer === 'found' ? serviceRows(service) : [NO_SERVICE_RECORD[serviceAnswer]]),
  ];
}

function noteOf(index: Job['index']): string[] {
  const note = notIndexedInWords(index, {});
  return note === null ? [] : [note];
}

function contextOf(timeline: Job['timeline']): string[] {
  const context = timeline.findLast((line) => line.context !== undefined)?.context;
  const values = Object.entries(context ?? {}).map(([name, value]) => `${name}=${value}`);
  const omitted = omittedOf(timeline);
  return [
    ...(values.length === 0 ? [] : [`Context: ${values.join(' ')}`]),
    ...(omitted === null ? [] : [`Left out of the context: ${omittedInWords(omitted)}`]),
  ];
}

function artefactRows(artefacts: readonly ListedArtefact[]): string[] {
  const others = otherVersions(artefacts);
  const counting = disputed(artefacts);
  return artefacts.map((artefact) => {
    const { key, kind, size, sha256 } = artefact;
    const about = `${kind.padEnd(18)}  ${String(size).padStart(10)} bytes  ${key}  sha256 ${sha256 ?? 'not known'}`;
    if (isConflict(artefact)) return `  ${about}  ${others.includes(artefact) ? 'conflict' : 'copy'}`;
    return counting.includes(artefact) ? `  ${about}  counts now` : `  ${about}`;
  });
}

function lostRow({ key, kind, size, sha256, storedAt }: Job['lost'][number]): string {
  return `  ${kind.padEnd(18)}  ${String(size).padStart(10)} bytes  ${key}  sha256 ${sha256}  stored ${storedAt}, not there now`;
}

function timelineRows(timeline: Job['timeline']): string[] {
  const left = timeline.length - SHOWN;
  const rows = timeline.slice(-SHOWN).map(({ receivedAt, origin, outcome, actor, reason, tooLarge }) => {
    const by = actor === undefined ? '' : ` by ${actor}`;
    const why = reason === null ? '' : `  ${reasonInWords(reason)}`;
    const sizes = tooLarge === undefined ? '' : `. ${tooLargeInWords(tooLarge, exactBytes)}`;
    return `  ${receivedAt}  ${origin.padEnd(9)}  ${outcome}${by}${why}${sizes}`;
  });
  return left > 0 ? [`  ${left} earlier lines are left out; --json has them`, ...rows] : rows;
}

function eventRow(event: Job['events'][number]): string {
  return `  ${event.subscriber}: ${describeDelivery(event)} (${event.type})`;
}

function serviceRows(service: Job['service']): string[] {
  if (service === null) return [];
  const { region, record } = service;
  const { status, created_at: created, errors } = record;
  const messages = Array.isArray(errors) ? errors.map((error) => String(error?.message ?? '')) : [];
  return [
    `The service, region ${region}: status ${String(status ?? 'not reported')}${created === undefined ? '' : `, created ${String(created)}`}`,
    ...(messages.length === 0 ? ['The service reports no errors.'] : messages.slice(0, 10)).map(
      (message) => `  ${message}`,
    ),
  ];
}
