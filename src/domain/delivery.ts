import type { DeliveryContext, OmittedContext } from './context.js';
import { ORIGINS, type StoredItem } from './item.js';
import type { RetentionClass } from './kinds.js';
import type { Wanted } from './quarantined-body.js';

export type DeliveryOutcome = 'stored' | 'duplicate' | 'conflict' | 'noted' | 'quarantined';

/** What a sender learns of a delivery that was accepted (docs/answers.md). */
export interface Acknowledgement {
  readonly deliveryId: string;
  readonly jobId: string;
  readonly status: string;
  readonly outcome: DeliveryOutcome;
  readonly items: readonly StoredItem[];
}

/** The outcome of a decoded delivery: that of its most noteworthy item. */
export function outcomeOf(items: readonly StoredItem[]): Exclude<DeliveryOutcome, 'quarantined'> {
  if (items.length === 0) return 'noted';
  if (items.some((item) => item.outcome === 'conflict')) return 'conflict';
  return items.every((item) => item.outcome === 'identical') ? 'duplicate' : 'stored';
}

/** Outcomes that only actions of operators have. */
const ACTION_OUTCOMES = [
  'released',
  'release-failed',
  'dismissed',
  'replayed',
  'reconcile-started',
  'cancelled',
  'acknowledged',
  'chosen',
  'erased',
] as const;
/** Outcomes of lines that record no delivery: an expiry, an access, a sign-in. */
const OTHER_OUTCOMES = ['expired', 'read', 'signed-in', 'sign-in-failed', 'credential-checked'] as const;
/** Outcomes a ledger line can carry. An open set. */
export const LEDGER_OUTCOMES = [
  'stored',
  'duplicate',
  'conflict',
  'noted',
  'quarantined',
  'refused',
  'recovered',
  'unrecoverable',
  'failed',
  ...ACTION_OUTCOMES,
  ...OTHER_OUTCOMES,
] as const;
export type LedgerOutcome = (typeof LEDGER_OUTCOMES)[number] | (string & {});

/** Whether an outcome never belongs to a callback, a recovery or an import. */
export function isNonDeliveryOutcome(outcome: string): boolean {
  return [...ACTION_OUTCOMES, ...OTHER_OUTCOMES].some((each) => each === outcome);
}

/** Origin of an access to content and of a sign-in on the admin port: nothing was delivered. */
export const ACCESS_ORIGIN = 'admin';
/** Origin of lines about expired objects. */
export const RETENTION_ORIGIN = 'retention';
export const LEDGER_ORIGINS = [...ORIGINS, ACCESS_ORIGIN, RETENTION_ORIGIN] as const;
export type LedgerOrigin = (typeof LEDGER_ORIGINS)[number];

/** Whether a line records an access on the admin port: nothing happened to the job. */
export function isAccess({ origin }: Pick<LedgerLine, 'origin'>): boolean {
  return origin === ACCESS_ORIGIN;
}

/** Whether a line records what an operator did: a repair, an import or an access; not a recovery that the receiver began itself. */
export function isOperatorAct(origin: string): boolean {
  return origin === 'replay' || origin === 'import' || origin === ACCESS_ORIGIN;
}

/** Whether a line records a delivery, a recovery or an operator's action: not an access, a sign-in or an expiry. */
export function isDelivery(origin: string): boolean {
  return origin !== ACCESS_ORIGIN && origin !== RETENTION_ORIGIN;
}

/** What a line says about an object of the store: what was stored, or that it was read. */
export interface LedgerItem extends Omit<StoredItem, 'outcome'> {
  readonly outcome: StoredItem['outcome'] | 'read';
}

/** The wire format of a delivery as it arrived, so that the sender's habits can be learned from production. */
export interface DeliveryShape {
  readonly contentType: string | null;
  readonly contentEncoding?: string;
  readonly framing: 'none' | 'sized' | 'chunked';
  readonly parts?: readonly {
    /** Only where it is a name of the interface. */
    readonly name: string | null;
    readonly contentType?: string;
    readonly transferEncoding?: string;
    readonly bytes: number;
  }[];
}

/** Expired objects of one kind and one job. */
export interface ExpiredObjects {
  readonly kind: RetentionClass;
  readonly objects: number;
}

/** Why a body was too large for its source; in bytes. */
export interface TooLargeBody {
  /** By its Content-Length; null without one. */
  readonly declared: number | null;
  /** `maxBytes` of the source then. */
  readonly limit: number;
}

/** One line of the ledger (docs/ledger.md). Field order is the order on disk. */
export interface LedgerLine {
  readonly v: 1;
  /** ULID; also identifies recoveries, replays, imports and erasures, each as a delivery of its own. */
  readonly deliveryId: string;
  /** ISO 8601 UTC with milliseconds: when the first line of the request had been read. */
  readonly receivedAt: string;
  readonly origin: LedgerOrigin;
  readonly source: string | null;
  readonly region: string | null;
  readonly clientIp: string | null;
  readonly method: string | null;
  readonly jobId: string | null;
  readonly status: string | null;
  readonly credential: string | null;
  readonly outcome: LedgerOutcome;
  /** Stable code of a reason, or an operator's words; null when there is nothing to explain. */
  readonly reason: string | null;
  readonly items: readonly LedgerItem[];
  /** Body bytes as they came over the wire. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly shape: DeliveryShape | null;
  /** Name of the admin token of an operator's action or access. */
  readonly actor?: string;
  /** In report mode: why enforcement would have refused the address. */
  readonly wouldRefuse?: string;
  /** The submitter's own parameters of the callback URL that the source's `context` names; absent without any. */
  readonly context?: DeliveryContext;
  /** Names of `context` whose value was left out, and why; absent when none was. */
  readonly contextOmitted?: OmittedContext;
  /** What expired; `bytes` is their size. */
  readonly expired?: ExpiredObjects;
  /** Present only when the body was too large. */
  readonly tooLarge?: TooLargeBody;
  /** ISO 8601: about when the service should have sent the callback of a job that recovery had to fetch. */
  readonly expectedAt?: string;
  /** Kinds that a quarantined body should have brought; absent from other lines. */
  readonly wanted?: readonly Wanted[];
  /** Delivery id of the quarantined body that an operator released or dismissed. */
  readonly body?: string;
}
