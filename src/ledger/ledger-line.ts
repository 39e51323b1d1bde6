import type { LedgerItem, LedgerLine } from '../domain/delivery.js';
import { ulidMaker } from '../lib/text/ulid-maker.js';

/** Fields that a line may lack, in the documented order. */
const OPTIONAL_FIELDS = [
  'actor',
  'wouldRefuse',
  'context',
  'contextOmitted',
  'expired',
  'tooLarge',
  'expectedAt',
  'wanted',
  'body',
] as const satisfies readonly (keyof LedgerLine)[];

type OptionalField = (typeof OPTIONAL_FIELDS)[number];

/**
 * Every field of a line. No field has a default, so that a writer that forgets one does not compile; null leaves an optional field out of
 * the line.
 */
export type LedgerFields = Omit<LedgerLine, 'v' | OptionalField> & {
  readonly [Name in OptionalField]: NonNullable<LedgerLine[Name]> | null;
};

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
  const present = OPTIONAL_FIELDS.filter((name) => fields[name] !== null);
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
    ...(Object.fromEntries(present.map((name) => [name, fields[name]])) as Pick<LedgerLine, OptionalField>),
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
