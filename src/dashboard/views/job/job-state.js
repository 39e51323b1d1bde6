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
export function jobState({ artefacts, timeline, failure, service, ended, erasure }, bodies) {
  if (erasure !== null) return erasedState(erasure, failure);
  const transcripts = artefacts.filter(isTranscript).filter((artefact) => !isConflict(artefact));
  const conflicts = artefacts.filter(isConflict);
  const isAcknowledged = timeline.some(({ outcome }) => outcome === 'acknowledged');
  if (failure?.outcome === 'conflict' || (conflicts.length > 0 && !isAcknowledged))
    return state('notice', 'Conflict', conflictInWords(conflicts), null);
  if (failure !== null) return failingState(failure, transcripts.length > 0);
  if (conflicts.length > 0)
    return state(
      'neutral',
      'Acknowledged',
      'The versions differ. An operator acknowledged the conflict.',
      null,
    );
  if (transcripts.length > 0)
    return state('good', 'Stored', ['The transcript is stored.', ...ended.map(endedInWords)].join(' '), null);
  if (ended.some(({ kind }) => kind === 'transcript'))
    return state('neutral', 'Ended by retention', ended.map(endedInWords).join(' '), null);
  const last = timeline.findLast((line) => !isAccess(line) && line.origin !== 'retention');
  if (ended.some(({ kind }) => kind === 'quarantine') && last?.outcome === 'quarantined')
    return state('neutral', 'Ended by retention', ended.map(endedInWords).join(' '), 'refetch');
  return withoutTranscript(artefacts, timeline, service, bodies);
}

/** @param {readonly Artefact[]} conflicts */
function conflictInWords({ length }) {
  if (length === 0) return 'Different bytes arrived for the same artefact. The first version was kept.';
  return `Different bytes arrived for the same artefact. The first version is kept, with ${count(length, 'other version')} next to it. Compare them below.`;
}

/**
 * @param {NonNullable<Job['failure']>} failure @param {boolean} hasTranscript
 * @returns {JobState}
 */
function failingState({ outcome, reason }, hasTranscript) {
  const why = reasonInWords(reason);
  const because = why ? `: ${why}` : '';
  if (!hasTranscript)
    return state(
      'bad',
      'Missing',
      `The last attempt failed${because}.`,
      outcome === 'unrecoverable' ? 'import' : 'refetch',
    );
  return state(
    'bad',
    'Failing',
    `The transcript is stored, but a later attempt failed${because}. A refetch that finds nothing missing settles this.`,
    'refetch',
  );
}

/** @param {Job['ended'][number]} ended */
export function endedInWords({ kind, objects, endedAt }) {
  return `${objectKindInWords(kind)} ended by retention at ${clock(endedAt)} (${count(objects, 'object')}).`;
}

/** @param {NonNullable<Job['erasure']>} erasure @param {Job['failure']} failure */
function erasedState({ complete, keptUntil }, failure) {
  if (complete && failure !== null)
    return state(
      'notice',
      'Erased',
      'Everything stored for this job was erased. It is listed as failing, because something failed afterwards: acknowledge that.',
      null,
    );
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
  if (settled !== undefined && artefacts.length === 0)
    return state('neutral', 'Settled', settlementInWords(settled.settlement), null);
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
