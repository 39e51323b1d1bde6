import { z } from 'zod';
import { LEDGER_OUTCOMES } from '../../../domain/delivery.js';
import { ITEM_KINDS, ORIGINS } from '../../../domain/item.js';
import { type Answer, amount, count, countsByName, instant, nextCursor, OPEN } from './values.js';

export const storedItemSchema = z
  .strictObject({
    kind: z.enum(ITEM_KINDS),
    key: z.string().describe('where it lies in the store'),
    size: count,
    sha256: z.string(),
    outcome: z.enum(['created', 'identical', 'conflict']),
  })
  .meta({ ...OPEN, id: 'StoredItem' });

const deliveryShapeSchema = z
  .strictObject({
    contentType: z.string().nullable(),
    contentEncoding: z.string().optional(),
    framing: z.enum(['none', 'sized', 'chunked']),
    parts: z
      .array(
        z
          .strictObject({
            name: z.string().nullable(),
            contentType: z.string().optional(),
            transferEncoding: z.string().optional(),
            bytes: count,
          })
          .meta(OPEN),
      )
      .optional(),
  })
  .meta({ ...OPEN, id: 'DeliveryShape', description: 'the wire format of the delivery' });

const LINE = {
  v: z.literal(1),
  deliveryId: z.string().describe('ULID; recoveries, replays, imports and erasures have one of their own'),
  receivedAt: instant,
  origin: z.enum(ORIGINS),
  source: z.string().nullable(),
  region: z.string().nullable(),
  clientIp: z.string().nullable(),
  method: z.string().nullable(),
  jobId: z.string().nullable(),
  status: z.string().nullable().describe('status of the callback'),
  credential: z.string().nullable().describe('name of the credential that was presented'),
  outcome: z.string().meta({ examples: [...LEDGER_OUTCOMES] }),
  reason: z.string().nullable().describe("a stable problem code, or an operator's words"),
  items: z.array(storedItemSchema),
  bytes: count.describe('of the body, as it came over the wire'),
  durationMs: amount,
  shape: deliveryShapeSchema.nullable(),
  actor: z.string().optional().describe('name of the admin token behind a change'),
  wouldRefuse: z.string().optional().describe('in report mode: why enforcement would refuse the address'),
};

export const ledgerLineSchema = z.strictObject(LINE).meta({
  ...OPEN,
  id: 'LedgerLine',
  description: 'One line of the ledger, as docs/ledger.md describes it',
});
export type LedgerLine = Answer<typeof ledgerLineSchema>;

export const deliveriesSchema = z
  .strictObject({ deliveries: z.array(ledgerLineSchema), nextCursor })
  .meta({ id: 'Deliveries' });
export type Deliveries = Answer<typeof deliveriesSchema>;

const failureLineSchema = z
  .strictObject({
    ...LINE,
    retentionEndsAt: instant.describe(
      'until when the speech service can be asked for the job, at the latest',
    ),
  })
  .meta({ ...OPEN, id: 'FailureLine', description: 'The ledger line of a failure that nothing has settled' });
export type FailureLine = Answer<typeof failureLineSchema>;

export const failuresSchema = z
  .strictObject({
    failures: z.array(failureLineSchema),
    counts: countsByName.describe('by outcome, of all failures that match'),
    nextCursor,
  })
  .meta({ id: 'Failures' });
export type Failures = Answer<typeof failuresSchema>;

const refusalSchema = z
  .strictObject({
    at: instant,
    source: z.string().nullable(),
    clientIp: z.string().nullable(),
    reason: z
      .string()
      .describe('a stable problem code; of the admin port `sign-in-` and what was wrong')
      .meta({ examples: ['credential-invalid', 'sign-in-wrong'] }),
    userAgent: z.string().nullable(),
    peer: z.string().nullable().describe("address of the connection's other end"),
    forwardedFor: z.string().nullable().describe('X-Forwarded-For as it was sent'),
    authenticated: z
      .boolean()
      .describe('true: from the ledger of all replicas; false: from memory of this one'),
    jobId: z.string().nullable(),
    status: z.string().nullable(),
    deliveryId: z.string().nullable(),
  })
  .meta({ id: 'Refusal' });
export type Refusal = Answer<typeof refusalSchema>;

export const refusalsSchema = z
  .strictObject({ refusals: z.array(refusalSchema), nextCursor })
  .meta({ id: 'Refusals' });
export type Refusals = Answer<typeof refusalsSchema>;
