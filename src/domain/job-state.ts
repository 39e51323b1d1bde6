import type { TooLargeBody } from './delivery.js';
import { gaveUpInWords } from './given-up.js';
import { callbackStatusInWords, isUnsuccessful, TEST_STATUS } from './job.js';
import { isTranscript, retentionClassInWords } from './kinds.js';
import {
  disputed,
  isConflict,
  mayHaveResults,
  type NextStep,
  nextSteps,
  otherVersions,
} from './next-steps.js';
import { reasonInWords } from './reasons.js';
import { exactBytes, tooLargeInWords } from './submitted-words.js';

/** Urgency of a state: nothing is missing, nothing to say, needs attention, needs action. */
export type StateTone = 'good' | 'neutral' | 'notice' | 'bad';

/** The state of a job as people read it, on its page and on the command line. */
export interface JobState {
  readonly tone: StateTone;
  readonly word: string;
  readonly text: string;
  /** What to do next, the recommended step first; empty where nothing has to be done. */
  readonly steps: readonly NextStep[];
}

/** What the state depends on: the answer of `GET jobs/:id`, or an unknown job. */
export interface KnownJob {
  readonly jobId: string;
  readonly artefacts: readonly StoredArtefact[];
  readonly timeline: readonly TimelineLine[];
  readonly failure: { readonly outcome: string; readonly reason: string | null } | null;
  readonly expired: readonly ExpiredPart[];
  readonly lost: readonly LostArtefact[];
  readonly erasure: { readonly complete: boolean; readonly keptUntil: string | null } | null;
  readonly service: { readonly record: Readonly<Record<string, unknown>> } | null;
  readonly serviceAnswer: string;
  /** What the index of the ledger has. */
  readonly index: {
    readonly since: string | null;
    readonly until: string | null;
    readonly missing: readonly unknown[];
  };
}

export interface StoredArtefact {
  readonly key: string;
  readonly kind: string;
  readonly sha256: string | null;
  readonly replaced: string | null;
}

interface TimelineLine {
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly origin: string;
  readonly outcome: string;
  readonly status: string | null;
  readonly tooLarge?: TooLargeBody | undefined;
  readonly items: readonly { readonly key: string; readonly outcome: string }[];
}

interface ExpiredPart {
  readonly kind: string;
  readonly objects: number;
  readonly expiredAt: string;
}

/** An artefact that the ledger says was stored, and that the store does not hold any more. */
export interface LostArtefact {
  readonly key: string;
  /** ISO 8601. */
  readonly storedAt: string;
}

/** A body of the job in quarantine. */
export interface JobBody {
  readonly deliveryId: string;
  readonly state: string;
  readonly settlement: BodySettlement | null;
}

const isWaiting = ({ state }: JobBody) => state === 'waiting';

interface BodySettlement {
  readonly by: string;
  readonly actor: string | null;
  readonly settledAt: string;
  readonly reason: string | null;
}

/** Shows an instant: in local time on the page, as ISO 8601 on the command line. */
type ShowInstant = (instant: string) => string;

/** @param bodies those of the job in quarantine, newest first */
export function jobState(job: KnownJob, bodies: readonly JobBody[], at: ShowInstant): JobState {
  const [tone, word, text, next] = describe(job, bodies, at);
  return { tone, word, text, steps: nextSteps(job, next, bodies) };
}

/** The state of a job that neither store nor ledger knows, nor the service as far as it was asked. */
export function unknownJobState(jobId: string, serviceAnswer: NoRecord): JobState {
  return {
    tone: 'neutral',
    word: 'Unknown',
    text: unknownJobText(serviceAnswer),
    steps: nextSteps(
      { jobId, artefacts: [], timeline: [], failure: null, service: null, serviceAnswer },
      'unknown',
      [],
    ),
  };
}

export function unknownJobText(serviceAnswer: NoRecord): string {
  if (serviceAnswer === 'unknown')
    return 'This receiver does not know the job, and the service does not know it either: the id is wrong, the service has deleted the job, or the job is of another account or of a region that speech.regions leaves out.';
  const answer = serviceAnswer === 'not-asked' ? '' : ` ${NO_SERVICE_RECORD[serviceAnswer]}`;
  return `This receiver does not know the job.${answer} The id may be wrong, its callback URL may name another receiver, or no callback has come through.`;
}

/** What stands in place of the service's record, by why there is none. */
export const NO_SERVICE_RECORD = {
  unknown:
    'The service does not know this job: it has deleted it, or the job is of another account, or of a region that speech.regions leaves out.',
  unreachable: 'The service did not answer for this job. Run transcript-receiver doctor.',
  'not-configured': 'The service was not asked: set speech.apiKey and speech.regions.<region>.batchUrl.',
  'not-asked': 'The service is not asked: the job belongs to sources too that the token may not see.',
} as const;

/** Why there is no record of the service. */
export type NoRecord = keyof typeof NO_SERVICE_RECORD;

/** The situation whose steps `nextSteps` lists. */
type Next = Parameters<typeof nextSteps>[1];
type Described = readonly [tone: StateTone, word: string, text: string, next: Next];

function describe(job: KnownJob, bodies: readonly JobBody[], at: ShowInstant): Described {
  const { artefacts, timeline, failure, expired, erasure } = job;
  if (erasure !== null) return erasedState(erasure, failure, at);
  const transcripts = artefacts.filter(isTranscript).filter((artefact) => !isConflict(artefact));
  const conflicts = artefacts.filter(isConflict);
  const open = { ...job, lost: unsettledLosses(job) };
  const decision = timeline.findLast(({ outcome }) => outcome === 'chosen' || outcome === 'acknowledged');
  if (open.lost.length > 0 && transcripts.length === 0) return lostState(open, at);
  if (failure?.outcome === 'conflict' || (conflicts.length > 0 && decision === undefined))
    return ['notice', 'Conflict', conflictInWords(artefacts), 'choose'];
  if (failure !== null) return failingState(failure, timeline, transcripts.length > 0);
  if (open.lost.length > 0) return lostState(open, at);
  if (job.lost.length > 0 && transcripts.length === 0)
    return [
      'neutral',
      'Acknowledged',
      `${lostInWords(job.lost, at)} An operator acknowledged the loss.`,
      null,
    ];
  if (decision?.outcome === 'chosen')
    return ['good', 'Chosen', 'An operator chose which version counts. All versions are kept.', null];
  if (conflicts.length > 0)
    return ['neutral', 'Acknowledged', 'The versions differ. An operator acknowledged the conflict.', null];
  const ends = expired.map((part) => expiredInWords(part, at));
  if (transcripts.length > 0) {
    const [waits, next] = waitingBody(bodies);
    return ['good', 'Stored', ['The transcript is stored.', ...waits, ...ends].join(' '), next];
  }
  if (expired.some(({ kind }) => kind === 'transcript')) return ['neutral', 'Expired', ends.join(' '), null];
  const last = timeline.findLast(({ origin }) => origin !== 'admin' && origin !== 'retention');
  if (expired.some(({ kind }) => kind === 'quarantine') && last?.outcome === 'quarantined')
    return ['neutral', 'Expired', ends.join(' '), 'refetch'];
  return withoutTranscript(job, bodies, at);
}

function conflictInWords(artefacts: readonly StoredArtefact[]): string {
  const others = otherVersions(artefacts).length;
  if (others === 0) return 'Different bytes arrived for the same artefact. The first version was kept.';
  const places = disputed(artefacts).length;
  if (places > 1)
    return `Different bytes arrived for ${places} artefacts. The versions that counted are kept, with the others next to them.`;
  return `Different bytes arrived for the same artefact. The version that counted is kept, with ${others === 1 ? '1 other' : `${others} others`} next to it.`;
}

function failingState(
  { outcome, reason }: NonNullable<KnownJob['failure']>,
  timeline: KnownJob['timeline'],
  hasTranscript: boolean,
): Described {
  const why = reasonInWords(reason);
  const tooLarge = reason === 'body-too-large' ? timeline.findLast((line) => line.tooLarge)?.tooLarge : null;
  const sizes = tooLarge ? ` ${tooLargeInWords(tooLarge, exactBytes)}` : '';
  const because = why ? `: ${why}` : '';
  const next = outcome === 'unrecoverable' ? 'import' : 'refetch';
  if (!hasTranscript) return ['bad', 'Missing', `The last attempt failed${because}.${sizes}`, next];
  return [
    'bad',
    'Failing',
    `The transcript is stored, but a later attempt failed${because}.${sizes} A refetch that finds nothing missing settles this.`,
    'refetch',
  ];
}

/** As `verify` counts them: an acknowledgement settles what was stored before it. */
function unsettledLosses({ lost, timeline }: KnownJob): readonly LostArtefact[] {
  const acknowledged = timeline.findLast(({ outcome }) => outcome === 'acknowledged')?.receivedAt ?? '';
  return lost.filter(({ storedAt }) => storedAt > acknowledged);
}

function lostState(job: KnownJob, at: ShowInstant): Described {
  const hasTranscript = job.artefacts.some((artefact) => isTranscript(artefact) && !isConflict(artefact));
  const text = lostInWords(job.lost, at);
  // That a job was rejected is on record: a refetch leaves it at that.
  const isRejected = job.service?.record.status === 'rejected';
  const isGone = isRejected || job.failure?.outcome === 'unrecoverable' || !mayHaveResults(job);
  const next = isGone ? 'restore' : 'lost';
  if (hasTranscript) return ['notice', 'Partly lost', `The transcript is stored. ${text}`, next];
  return ['bad', 'Lost', text, next];
}

/** "Lost from the store: stored at 11:22, not there now." */
export function lostInWords(lost: readonly LostArtefact[], at: ShowInstant): string {
  const [first, ...more] = [...lost].sort((a, b) => (a.storedAt < b.storedAt ? -1 : 1));
  if (first === undefined) return '';
  const others = more.length === 0 ? '' : ` (${lost.length} objects)`;
  return `Lost from the store: stored at ${at(first.storedAt)}, not there now${others}.`;
}

export function expiredInWords({ kind, objects, expiredAt }: ExpiredPart, at: ShowInstant): string {
  const count = objects === 1 ? '1 object' : `${objects} objects`;
  return `${retentionClassInWords(kind)} expired at ${at(expiredAt)} (${count}).`;
}

function erasedState(
  { complete, keptUntil }: NonNullable<KnownJob['erasure']>,
  failure: KnownJob['failure'],
  at: ShowInstant,
): Described {
  if (complete && failure !== null)
    return [
      'notice',
      'Erased',
      'Everything stored for this job was erased. It is listed as failing, because something failed afterwards: acknowledge that.',
      'acknowledge',
    ];
  if (complete) return ['neutral', 'Erased', 'Everything stored for this job was erased.', null];
  const until = keptUntil === null ? 'yet' : `before ${at(keptUntil)}`;
  return [
    'notice',
    'Not erased completely',
    `What is stored for this job is hidden, but cannot be removed ${until}. Erase it again then; the timeline says what remains and why.`,
    'erase',
  ];
}

function withoutTranscript(
  { artefacts, timeline, service, index }: KnownJob,
  bodies: readonly JobBody[],
  at: ShowInstant,
): Described {
  // Lines of recovery count as well: it records the end of a job whose callback was lost.
  const failed = timeline.map(({ status }) => status).findLast(isUnsuccessful);
  if (failed !== undefined) {
    const reports = `The service reports ${callbackStatusInWords(failed)}. Submit the job again.`;
    const [waits, next] = waitingBody(bodies);
    return ['notice', 'No transcript', [reports, ...waits].join(' '), next];
  }
  if (bodies.some(isWaiting))
    return ['notice', 'In quarantine', 'The body could not be decoded and is in quarantine.', 'quarantine'];
  if (timeline.some(({ status }) => status === TEST_STATUS))
    return ['neutral', 'Test', 'A test callback of transcript-receiver doctor: there is no such job.', null];
  const settled = bodies.find((body) => body.state === 'settled');
  if (settled !== undefined && artefacts.length === 0)
    return ['neutral', 'Settled', settlementInWords(settled.settlement, at), null];
  const status = service?.record.status;
  const failedAttempts = notificationErrors(service);
  if (status === 'rejected') return rejectedState(failedAttempts);
  if (failedAttempts.length > 0 && status !== 'deleted' && status !== 'expired')
    return ['bad', 'Missing', `${gaveUpInWords(failedAttempts)} It still has the results.`, 'refetch'];
  if (artefacts.length > 0)
    return ['neutral', 'No transcript', 'Artefacts are stored for this job, but no transcript.', 'refetch'];
  if (typeof status === 'string') return byService(status);
  if (timeline.length === 0 && lacksLines(index))
    return ['neutral', 'Not found yet', 'Nothing was found of this job so far.', 'find'];
  return ['neutral', 'Nothing stored', 'Nothing is stored for this job.', 'refetch'];
}

/** What a state with words of its own says of a body that waits, and what can be done about it. */
function waitingBody(bodies: readonly JobBody[]): readonly [words: readonly string[], next: Next] {
  if (!bodies.some(isWaiting)) return [[], null];
  return [['A body that could not be decoded waits in quarantine.'], 'quarantine'];
}

function lacksLines({ since, until, missing }: KnownJob['index']): boolean {
  return since !== null || until === null || missing.length > 0;
}

/** State of a job that the service rejected while the ledger has no line about its end yet. */
function rejectedState(failedAttempts: readonly { readonly message: string }[]): Described {
  const gaveUp = failedAttempts.length === 0 ? '' : ` ${gaveUpInWords(failedAttempts)}`;
  const text = `The service rejected the job: there is no transcript.${gaveUp} Its callback has not arrived.`;
  return ['notice', 'No transcript', text, 'record'];
}

/** State of a job without stored artefacts, by its status at the service. */
function byService(status: string): Described {
  if (status === 'running')
    return ['neutral', 'Pending', 'The service is still working on the job: nothing is missing yet.', null];
  if (status === 'done')
    return ['bad', 'Missing', 'The service has finished the job, but nothing of it has arrived.', 'refetch'];
  const text = `Nothing is stored for this job, and its status at the service is ${status}.`;
  return ['bad', 'Missing', text, 'import'];
}

const SETTLED: Readonly<Record<string, string>> = {
  dismissed: 'The body was dismissed',
  acknowledged: 'The job was acknowledged',
  refetched: 'The job was refetched and is complete',
  imported: 'Files of the job were imported',
};

/** "The body was dismissed by ops at 4 March 2026, 05:06: a test call." */
export function settlementInWords(settlement: BodySettlement | null, at: ShowInstant): string {
  if (settlement === null) return 'The job has what the body should have brought.';
  const { by, actor, settledAt, reason } = settlement;
  return `${SETTLED[by] ?? by}${actor === null ? '' : ` by ${actor}`} at ${at(settledAt)}${reason === null ? '' : `: ${reason}`}.`;
}

function notificationErrors(service: KnownJob['service']): { readonly message: string }[] {
  const errors = service?.record.errors;
  if (!Array.isArray(errors)) return [];
  return errors
    .map((error) => ({ message: String(error?.message) }))
    .filter(({ message }) => /notification/i.test(message));
}
