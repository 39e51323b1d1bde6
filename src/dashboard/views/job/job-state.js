import { clock, count } from '../../lib/text/format.js';
import { callbackStatusInWords, isAccess, objectKindInWords } from '../../lib/text/ledger-terms.js';
import { reasonInWords } from '../../vendor/reasons.js';
import { settlementInWords } from '../failures/settlement.js';

/** @import { Artefact, Job, LedgerLine, QuarantinedBody, ServiceRecord } from '../../lib/api/api-answers.js' */
/** @import { Tone } from '../../lib/elements/status.js' */

/** @typedef {{tone: Tone, word: string, text: string, repair: 'refetch' | 'import' | null}} JobState */

/**
 * The state of a job; `repair` is the recommended action.
 * @param {Job} job @param {readonly QuarantinedBody[]} bodies those of the job in quarantine, newest first
 * @returns {JobState}
 */
export function jobState({ artefacts, timeline: lines, service, ended, erasure }, bodies) {
  if (erasure !== null) return erasedState(erasure);
  const timeline = withoutAccess(lines);
  const transcripts = artefacts.filter(isTranscript).filter((artefact) => !isConflict(artefact));
  const conflicts = artefacts.filter(isConflict);
  if (conflicts.length > 0 && isSettled(timeline))
    return state(
      'neutral',
      'Acknowledged',
      'The versions differ. An operator acknowledged the conflict.',
      null,
    );
  if (conflicts.length > 0) {
    return state(
      'notice',
      'Conflict',
      `Different bytes arrived for the same artefact. The first version is kept, with ${count(conflicts.length, 'other version')} next to it. Compare them below.`,
      null,
    );
  }
  if (transcripts.length > 0)
    return state('good', 'Stored', ['The transcript is stored.', ...ended.map(endedInWords)].join(' '), null);
  if (ended.some(({ kind }) => kind === 'transcript'))
    return state('neutral', 'Ended by retention', ended.map(endedInWords).join(' '), null);
  if (ended.some(({ kind }) => kind === 'quarantine') && timeline.at(-1)?.outcome === 'quarantined')
    return state('neutral', 'Ended by retention', ended.map(endedInWords).join(' '), 'refetch');
  return withoutTranscript(artefacts, timeline, service, bodies);
}

/** @param {Job['ended'][number]} ended */
export function endedInWords({ kind, objects, endedAt }) {
  return `${objectKindInWords(kind)} ended by retention at ${clock(endedAt)} (${count(objects, 'object')}).`;
}

/** @param {NonNullable<Job['erasure']>} erasure */
function erasedState({ complete, keptUntil }) {
  if (complete) return state('neutral', 'Erased', 'Everything stored for this job was erased.', null);
  const until = keptUntil === null ? 'yet' : `before ${clock(keptUntil)}`;
  return state(
    'notice',
    'Not erased completely',
    `What is stored for this job is hidden, but cannot be removed ${until}. Erase it again then; the timeline says what remains and why.`,
    null,
  );
}

/**
 * @param {readonly Artefact[]} artefacts @param {readonly LedgerLine[]} timeline @param {ServiceRecord | null} service
 * @param {readonly QuarantinedBody[]} bodies
 */
function withoutTranscript(artefacts, timeline, service, bodies) {
  const last = timeline.at(-1);
  const failed = timeline.findLast(
    ({ status, origin }) => origin === 'callback' && status !== null && status !== 'success',
  );
  if (failed)
    return state(
      'notice',
      'No transcript',
      `The service reports ${callbackStatusInWords(failed.status ?? '')}.`,
      null,
    );
  if (bodies.some((body) => body.state === 'waiting')) {
    return state(
      'notice',
      'In quarantine',
      'The body could not be decoded and is in quarantine. Release it, refetch the job, or dismiss the body.',
      'refetch',
    );
  }
  const settled = bodies.find((body) => body.state === 'settled');
  if (settled !== undefined && artefacts.length === 0 && last && !FAILURES.includes(last.outcome))
    return state('neutral', 'Settled', settlementInWords(settled.settlement), null);
  if (last && ['refused', 'failed', 'unrecoverable'].includes(last.outcome)) {
    const reason = reasonInWords(last.reason);
    return state(
      'bad',
      'Missing',
      `The last attempt failed${reason ? `: ${reason}` : ''}.`,
      last.outcome === 'unrecoverable' ? 'import' : 'refetch',
    );
  }
  if (gaveUp(service))
    return state(
      'bad',
      'Missing',
      'The service gave up sending the callback. It still has the results.',
      'refetch',
    );
  if (artefacts.length > 0)
    return state(
      'neutral',
      'No transcript',
      'Artefacts are stored for this job, but no transcript.',
      'refetch',
    );
  return state('neutral', 'Nothing stored', 'Nothing is stored for this job.', 'refetch');
}

/**
 * @param {Tone} tone @param {string} word @param {string} text @param {JobState['repair']} repair
 * @returns {JobState}
 */
function state(tone, word, text, repair) {
  return { tone, word, text, repair };
}

const FAILURES = ['failed', 'refused', 'unrecoverable', 'conflict'];

/**
 * Whether the job can be acknowledged: its last failure was neither repaired nor acknowledged.
 * @param {Job} job
 */
export function needsDecision({ artefacts, timeline: lines }) {
  const timeline = withoutAccess(lines);
  const failed = timeline.findLastIndex(({ outcome }) => FAILURES.includes(outcome));
  if (failed < 0) return false;
  const since = timeline.slice(failed + 1);
  const repaired = ['acknowledged', 'erased', 'recovered', 'released', 'stored'];
  if (timeline[failed]?.outcome === 'conflict')
    return artefacts.some(isConflict) && !since.some(({ outcome }) => outcome === 'acknowledged');
  return !since.some(({ outcome }) => repaired.includes(outcome));
}

/**
 * Who looked at the content, and what ended by its age, says nothing about the rest.
 * @param {readonly LedgerLine[]} timeline
 */
function withoutAccess(timeline) {
  return timeline.filter((line) => !isAccess(line) && line.origin !== 'retention');
}

/** @param {readonly LedgerLine[]} timeline */
function isSettled(timeline) {
  /** @param {string} name */
  const last = (name) => timeline.findLastIndex(({ outcome }) => outcome === name);
  return last('acknowledged') > last('conflict');
}

/** @param {ServiceRecord | null} service */
function gaveUp(service) {
  const errors = service?.record?.errors;
  return Array.isArray(errors) && errors.some((error) => /notification/i.test(String(error?.message)));
}

/** @param {Artefact} artefact */
export function isTranscript({ kind }) {
  return kind.startsWith('transcript.');
}

/** @param {Artefact} artefact */
export function isConflict({ key }) {
  return /(^|\/)jobs\/[^/]+\/conflicts\//.test(key);
}
