import type { StoreCondition } from '../store/store-remedies.js';

/** Topics of issues, of the dashboard's tiles and of its help. */
export const TOPICS = [
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

/** `failing`: results are lost or cannot be received. `warning`: they may be, if nothing is done. */
export type IssueLevel = 'warning' | 'failing';

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
  'store-not-writable': StoreFailure;
  'store-unreadable': Omit<StoreFailure, 'since'>;
  'not-ready': { readonly reason: string | null };
  draining: Readonly<Record<string, never>>;
  'no-receiver': { readonly since: string | null };
  'memory-short': { readonly deliveries: number };
  'ledger-unreadable': StoreFailure;
  'ledger-loading': Readonly<Record<string, never>>;
  'ledger-lines-broken': { readonly lines: number };
  'ledger-lines-newer': { readonly lines: number };
  'jobs-failing': {
    readonly jobs: number;
    readonly outcomes: Counts;
    /** Whether every delivery was looked at; otherwise more jobs may be failing. */
    readonly complete: boolean;
    readonly since: string | null;
  };
  'retention-ending': {
    readonly ends: string;
    /** As of `jobs-failing`. */
    readonly complete: boolean;
  };
  'results-missing': { readonly jobs: number };
  'reconcile-not-configured': Readonly<Record<string, never>>;
  'reconcile-not-scheduled': Readonly<Record<string, never>>;
  'reconcile-not-run': Readonly<Record<string, never>>;
  'reconcile-overdue': { readonly since: string };
  'reconcile-incomplete': Incomplete;
  'artefacts-missing': { readonly missing: number; readonly damaged: number; readonly finishedAt: string };
  'verify-incomplete': Incomplete;
  'credentials-expired': {
    readonly source: string;
    /** When the last one expired; null when none has been valid yet. */
    readonly since: string | null;
    /** When the next one becomes valid. */
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
  'subscriber-lagging': {
    readonly subscriber: string;
    readonly since: string;
    /** Of the last failed attempt. */
    readonly status: number | null;
    readonly error: string | null;
  };
  'events-dead': { readonly subscriber: string; readonly events: number };
}
export type IssueCode = keyof IssueParams;

/** One thing wrong. */
export interface Issue {
  readonly topic: Topic;
  readonly level: IssueLevel;
  readonly code: IssueCode;
  /** `IssueParams` of the code; `issueOf` sees to it. */
  readonly params: Readonly<Record<string, unknown>>;
}
