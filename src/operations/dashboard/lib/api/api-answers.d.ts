import type {
  Acknowledged,
  Deliveries,
  Failures,
  failureLineSchema,
  ledgerLineSchema,
  Refusals,
  refusalCountsSchema,
  refusalSchema,
} from '../../../answers/deliveries.js';
import type { explanationSchema } from '../../../answers/explanation.js';
import type { Health, Names } from '../../../answers/health.js';
import type {
  artefactSchema,
  Erased,
  Job,
  JobMatches,
  Refetched,
  Taken,
  Ticket,
} from '../../../answers/jobs.js';
import type { QuarantinedBodyView, quarantineSchema, settlementSchema } from '../../../answers/quarantine.js';
import type { ReconcileState } from '../../../answers/reconcile.js';
import type {
  Replay,
  ReplayInFull,
  ReplayPreview,
  ReplayStarted,
  replaysSchema,
} from '../../../answers/replays.js';
import type { Session } from '../../../answers/session.js';
import type {
  DeadEvents,
  deadEventSchema,
  SentEvents,
  Subscribers,
  subscriberSchema,
  Tested,
} from '../../../answers/subscribers.js';
import type { Summary } from '../../../answers/summary.js';
import type { Answer } from '../../../answers/values.js';

declare global {
  /** Modules that the answers share with the receiver name it. No answer holds one. */
  interface Buffer extends Uint8Array {}
}

export type Artefact = Answer<typeof artefactSchema>;
export type DeadEvent = Answer<typeof deadEventSchema>;
export type Subscriber = Answer<typeof subscriberSchema>;
export type Explanation = Answer<typeof explanationSchema>;
export type FailureLine = Answer<typeof failureLineSchema>;
export type LedgerLine = Answer<typeof ledgerLineSchema>;
export type Refusal = Answer<typeof refusalSchema>;
export type RefusalCounts = Answer<typeof refusalCountsSchema>;
type Quarantine = Answer<typeof quarantineSchema>;
export type Settlement = Answer<typeof settlementSchema>;
type Replays = Answer<typeof replaysSchema>;

/** Answers of GET by path. */
export interface GetAnswers {
  '/session': Session;
  '/health': Health;
  '/names': Names;
  '/summary': Summary;
  '/deliveries': Deliveries;
  '/failures': Failures;
  '/refusals': Refusals;
  '/refusals/counts': RefusalCounts;
  '/quarantine': Quarantine;
  '/reconcile': ReconcileState;
  '/replays': Replays;
  '/subscribers': Subscribers;
  [dead: `/subscribers/${string}/dead`]: DeadEvents;
  [sent: `/subscribers/${string}/events`]: SentEvents;
  '/jobs': JobMatches;
  [job: `/jobs/${string}`]: Job;
  [body: `/quarantine/${string}`]: QuarantinedBodyView;
  [replay: `/replays/${string}`]: ReplayInFull;
}

/** Answers of POST by path. */
export interface PostAnswers {
  '/explain': Explanation;
  '/failures/acknowledge': Acknowledged;
  '/reconcile': ReconcileState;
  /** The preview for `dryRun`. */
  '/replays': ReplayPreview | ReplayStarted;
  [ticket: `/jobs/${string}/ticket`]: Ticket;
  [acknowledge: `/jobs/${string}/acknowledge`]: LedgerLine;
  [choose: `/jobs/${string}/choose`]: LedgerLine;
  [refetch: `/jobs/${string}/refetch`]: Refetched;
  [upload: `/jobs/${string}/artefacts`]: Taken;
  [release: `/quarantine/${string}/release`]: Taken;
  [dismiss: `/quarantine/${string}/dismiss`]: Settlement;
  [test: `/subscribers/${string}/test`]: Tested;
}

/** Answers of DELETE by path. */
export interface DeleteAnswers {
  [job: `/jobs/${string}`]: Erased;
  [replay: `/replays/${string}`]: Replay;
}

export type Issue = Health['verdict']['issues'][number];
export type Topic = Issue['topic'];
export type CredentialState = Health['credentials'][number];
export type ReconcileFigures = NonNullable<Health['reconcile']>;
export type VerifyFigures = NonNullable<Health['verify']>;
export type Unknowable = keyof Health['unknown'];
export type Unknown = NonNullable<Health['unknown'][Unknowable]>;
export type ServiceRecord = NonNullable<Job['service']>;
export type QuarantinedBody = Quarantine['quarantine'][number];
export type Release = NonNullable<QuarantinedBody['release']>;
export type ReplaySelector = Replay['selector'];
export type Gate = Explanation['gates'][number];

export type {
  DeadEvents,
  Deliveries,
  Erased,
  Failures,
  Health,
  Job,
  JobMatches,
  Names,
  QuarantinedBodyView,
  ReconcileState,
  Refetched,
  Replay,
  ReplayInFull,
  ReplayPreview,
  SentEvents,
  Session,
  Summary,
  Ticket,
};
