import type { OtherWork } from '../../domain/other-work.js';
import type { StoreCondition } from '../../store/store-remedies.js';

/** Topics of issues, of the dashboard's tiles and of its help. */
export const TOPICS = [
  'callbacks',
  'store',
  'receiving',
  'ledger',
  'failures',
  'expected',
  'reconcile',
  'verify',
  'credentials',
  'quarantine',
  'subscribers',
] as const;
export type Topic = (typeof TOPICS)[number];

/**
 * From best to worst. `unknown`: facts could not be read. `warning`: results may be lost if nothing is done. `failing`: results are lost or
 * cannot be received.
 */
export const LEVELS = ['ok', 'unknown', 'warning', 'failing'] as const;
export type Level = (typeof LEVELS)[number];
export type IssueLevel = Exclude<Level, 'ok'>;
export const ISSUE_LEVELS = LEVELS.filter((level) => level !== 'ok');

type Counts = Readonly<Record<string, number>>;
export type StoreFailure = {
  readonly reason: string | null;
  readonly condition: StoreCondition | null;
  /** When it last worked. */
  readonly since: string | null;
};
type Incomplete = {
  /** Number of faults, and the first of them. */
  readonly faults: number;
  readonly first: string;
};
type Expiry = {
  readonly source: string;
  readonly credential: string;
  readonly expires: string;
};

/** Facts of each issue by its code: numbers, names and instants (ISO 8601). */
export interface IssueParams {
  'callbacks-refused': {
    /** Null for requests to no configured source. */
    readonly source: string | null;
    /** A reason code (domain/reasons). */
    readonly cause: string;
    /** What `refused` and `accepted` count. Unauthenticated requests are counted as requests. */
    readonly unit: 'jobs' | 'requests';
    /** Within the last hour. */
    readonly refused: number;
    readonly accepted: number;
    /** Requests refused after the last accepted callback: 0 if the cause is over, null if that is unknown. */
    readonly sinceAccepted: number | null;
    /** When the first of them was refused. */
    readonly since: string;
  };
  'callbacks-missed': {
    /** Null for all sources together. */
    readonly source: string | null;
    /** Jobs that recovery had to fetch, and their number within the last hour. */
    readonly missed: number;
    readonly lastHour: number;
    /** All jobs of that time. */
    readonly jobs: number;
    /** Id of one missed job. */
    readonly job: string | null;
    /** Start of the count: a day ago, or the start of the index. */
    readonly since: string;
  };
  'store-not-writable': StoreFailure;
  'store-unreadable': Omit<StoreFailure, 'since'>;
  'store-denied': {
    readonly prefix: string;
    /** Sources whose callbacks all need the prefix; empty if only some bodies do. */
    readonly sources: readonly string[];
    readonly reason: string;
    readonly condition: StoreCondition | null;
    readonly since: string;
  };
  /** A prefix that no callback needs. */
  'work-denied': {
    readonly prefix: string;
    /** Work that needs it. */
    readonly work: OtherWork;
    readonly reason: string;
    readonly condition: StoreCondition | null;
    readonly since: string;
  };
  'store-replaced': {
    /** Ids of the stores; null: one without a marker. */
    readonly was: string;
    readonly is: string | null;
    /** When the former store was last seen. */
    readonly seenAt: string;
  };
  clock: {
    readonly replica: string;
    /** Milliseconds by which the store's clock is ahead. */
    readonly offsetMs: number;
  };
  'not-ready': {
    readonly reason: string | null;
    /** Absent for the answering replica. */
    readonly replica?: string;
  };
  'replica-silent': {
    readonly replica: string;
    /** When it last wrote to the store. */
    readonly since: string;
  };
  draining: Readonly<Record<string, never>>;
  'no-receiver': { readonly since: string | null };
  'memory-short': { readonly deliveries: number };
  'ledger-unreadable': StoreFailure;
  'index-behind': { readonly reason: string; readonly since: string | null };
  'ledger-loading': Readonly<Record<string, never>>;
  'ledger-lines-unreadable': {
    /** Lines that cannot be read of segments that can. */
    readonly lines: number;
    /** Missing or unreadable objects, and folders of an hour that cannot be listed; at most a hundred. */
    readonly objects: number;
    /** Key of the newest of those; null without one. */
    readonly first: string | null;
  };
  'jobs-failing': {
    readonly jobs: number;
    readonly outcomes: Counts;
    readonly since: string | null;
  };
  'retention-ending': {
    readonly ends: string;
  };
  'results-missing': { readonly jobs: number };
  /** Time of the last complete reconcile; null without one. */
  'expected-unknown': { readonly since: string | null };
  'reconcile-not-configured': Readonly<Record<string, never>>;
  'reconcile-not-scheduled': Readonly<Record<string, never>>;
  'reconcile-not-run': Readonly<Record<string, never>>;
  'reconcile-overdue': { readonly since: string };
  'reconcile-incomplete': Incomplete;
  'artefacts-missing': { readonly missing: number; readonly damaged: number; readonly finishedAt: string };
  'verify-incomplete': Incomplete;
  'credentials-expired': {
    readonly source: string;
    /** When the last credential expired; null if none was valid yet. */
    readonly since: string | null;
    /** When the next credential becomes valid. */
    readonly next: string | null;
  };
  'credential-expired': Expiry;
  'credential-expiring': Expiry & {
    /** Null when it was not used in the last 7 days, or that is not known. */
    readonly lastUsedAt: string | null;
    /** A credential of the source that stays valid. */
    readonly successor: string | null;
  };
  'quarantine-growing': { readonly bodies: number };
  'subscriber-state-damaged': { readonly subscriber: string };
  'subscriber-paused': {
    readonly subscriber: string;
    readonly since: string;
    /** Answer to the last failed attempt. */
    readonly status: number | null;
    readonly error: string | null;
  };
  'subscriber-lagging': {
    readonly subscriber: string;
    readonly since: string;
    /** Answer to the last failed attempt. */
    readonly status: number | null;
    readonly error: string | null;
  };
  'events-dead': { readonly subscriber: string; readonly events: number };
}
export type IssueCode = keyof IssueParams;

/** Issues that a replica can report of itself; others in its canary are ignored. */
export const REPORTED_ISSUES = [
  'clock',
  'store-denied',
  'work-denied',
  'store-replaced',
  'not-ready',
] as const;
export type ReportedIssue = Issue & { readonly code: (typeof REPORTED_ISSUES)[number] };

/** One thing wrong. */
export interface Issue {
  readonly topic: Topic;
  readonly level: IssueLevel;
  readonly code: IssueCode;
  /** `IssueParams` of the code, ensured by `issueOf`. */
  readonly params: Readonly<Record<string, unknown>>;
}
