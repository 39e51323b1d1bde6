import type { DeliveryContext, OmittedContext } from '../domain/context.js';
import type { ExpiredObjects, LedgerItem, LedgerLine, TooLargeBody } from '../domain/delivery.js';
import type { Wanted } from '../domain/quarantined-body.js';
import { ulidMaker } from '../lib/text/ulid-maker.js';

/** Every field of a line. No field has a default, so that a writer that forgets one does not compile. */
export interface LedgerFields extends Omit<LedgerLine, 'v' | OptionalField> {
  /** Null leaves the field out of the line; the same holds for the fields below. */
  readonly actor: string | null;
  readonly wouldRefuse: string | null;
  readonly context: DeliveryContext | null;
  readonly contextOmitted: OmittedContext | null;
  readonly expired: ExpiredObjects | null;
  readonly tooLarge: TooLargeBody | null;
  readonly expectedAt: string | null;
  readonly wanted: readonly Wanted[] | null;
  readonly body: string | null;
}

type OptionalField =
  | 'actor'
  | 'wouldRefuse'
  | 'context'
  | 'contextOmitted'
  | 'expired'
  | 'tooLarge'
  | 'expectedAt'
  | 'wanted'
  | 'body';

/** Fields of a line that no sender's request caused. */
export const NO_REQUEST = {
  clientIp: null,
  method: null,
  credential: null,
  shape: null,
  wouldRefuse: null,
  contextOmitted: null,
  expired: null,
  tooLarge: null,
  expectedAt: null,
  wanted: null,
  body: null,
} as const;

/** Fields of a line that records no delivery either; the writer overrides those that it has. */
export const NO_DELIVERY = {
  ...NO_REQUEST,
  source: null,
  region: null,
  jobId: null,
  status: null,
  reason: null,
  context: null,
  actor: null,
  items: [],
  bytes: 0,
  durationMs: 0,
} as const;

/** Builds every line of the ledger. The fields have the order in which docs/ledger.md lists them. */
export function ledgerLine(fields: LedgerFields): LedgerLine {
  const { actor, wouldRefuse, context, contextOmitted, expired, tooLarge, expectedAt, wanted, body } = fields;
  return {
    v: 1,
    deliveryId: fields.deliveryId,
    receivedAt: fields.receivedAt,
    origin: fields.origin,
    source: fields.source,
    region: fields.region,
    clientIp: fields.clientIp,
    method: fields.method,
    jobId: fields.jobId,
    status: fields.status,
    credential: fields.credential,
    outcome: fields.outcome,
    reason: fields.reason,
    items: fields.items.map(ledgerItem),
    bytes: fields.bytes,
    durationMs: fields.durationMs,
    shape: fields.shape,
    ...(actor === null ? undefined : { actor }),
    ...(wouldRefuse === null ? undefined : { wouldRefuse }),
    ...(context === null ? undefined : { context }),
    ...(contextOmitted === null ? undefined : { contextOmitted }),
    ...(expired === null ? undefined : { expired }),
    ...(tooLarge === null ? undefined : { tooLarge }),
    ...(expectedAt === null ? undefined : { expectedAt }),
    ...(wanted === null ? undefined : { wanted }),
    ...(body === null ? undefined : { body }),
  };
}

/** The item with its fields in the documented order. */
function ledgerItem({ kind, key, size, sha256, outcome }: LedgerItem): LedgerItem {
  return { kind, key, size, sha256, outcome };
}

/** Who performed an action, and why. */
export interface AuditInfo {
  /** Name of the admin token, or of the command line's user. */
  readonly actor: string;
  readonly reason: string | null;
}

/** What an operator did: id, outcome and job (null when it concerns several), and every field that is not empty. */
export type OperatorAct = Pick<LedgerLine, 'deliveryId' | 'outcome' | 'jobId'> &
  Partial<Omit<LedgerFields, 'deliveryId' | 'outcome' | 'jobId' | 'actor' | 'reason'>>;

/** The line of an operator's act. */
export function operatorLine({ actor, reason }: AuditInfo, act: OperatorAct): LedgerLine {
  return ledgerLine({
    ...NO_DELIVERY,
    receivedAt: new Date().toISOString(),
    origin: 'replay',
    ...act,
    actor,
    reason,
  });
}

const nextUlid = ulidMaker();

/** The id of a new line: a ULID. Ids made by one process sort in the order they were made. */
export function newDeliveryId(now: number = Date.now()): string {
  return nextUlid(now);
}
