import { z } from 'zod';
import { LEDGER_ORIGINS, LEDGER_OUTCOMES } from '../../domain/delivery.js';
import { ITEM_KINDS, RETENTION_CLASSES } from '../../domain/kinds.js';
import { WANTED } from '../../domain/quarantined-body.js';
import { indexExtentSchema } from './index-extent.js';
import { type Answer, amount, count, countsByName, instant, nextCursor, OPEN } from './values.js';

export const storedItemSchema = z
  .strictObject({
    kind: z.enum(ITEM_KINDS).describe('what the item is'),
    key: z.string().describe("key of the object below the store's prefix"),
    size: count.describe('bytes'),
    sha256: z.string().describe('SHA-256 of the bytes, hexadecimal'),
    outcome: z
      .enum(['created', 'identical', 'conflict'])
      .describe('created now, identical to what was there, or kept beside differing bytes'),
  })
  .meta({ ...OPEN, id: 'StoredItem' });

/** An item of a ledger line, which can also record that the item was read. */
const ledgerItemSchema = z
  .strictObject({
    ...storedItemSchema.shape,
    outcome: z
      .enum([...storedItemSchema.shape.outcome.options, 'read'])
      .describe('created now, identical to what was there, kept beside differing bytes, or read'),
  })
  .meta({ ...OPEN, id: 'LedgerItem' });

const deliveryShapeSchema = z
  .strictObject({
    contentType: z
      .string()
      .nullable()
      .describe('known media type of the request, without parameters; any other is `other`'),
    contentEncoding: z
      .string()
      .optional()
      .describe('Content-Encoding, where there was one; unknown codings are `other`'),
    framing: z.enum(['none', 'sized', 'chunked']).describe('no body, Content-Length, or chunked'),
    parts: z
      .array(
        z
          .strictObject({
            name: z
              .string()
              .nullable()
              .describe('part name; null where it is none of the callback interface'),
            contentType: z
              .string()
              .optional()
              .describe('known media type of the part, without parameters; any other is `other`'),
            transferEncoding: z
              .string()
              .optional()
              .describe('Content-Transfer-Encoding of the part; unknown ones are `other`'),
            bytes: count.describe('bytes of the part'),
          })
          .meta(OPEN),
      )
      .optional()
      .describe('parts of a form'),
  })
  .meta({ ...OPEN, id: 'DeliveryShape', description: 'the wire format of the delivery' });

const LINE = {
  v: z.literal(1).describe("version of the line's format; lines of another version are not described here"),
  deliveryId: z.string().describe('ULID; recoveries, replays, imports and erasures have one of their own'),
  receivedAt: instant.describe('UTC; when the head of the request had been read'),
  origin: z
    .enum(LEDGER_ORIGINS)
    .describe(
      'how the delivery came; admin: an access to content or a sign-in, retention: objects that expired, nothing was delivered',
    ),
  source: z.string().nullable().describe('configured source, the last part of /callbacks/<source>'),
  region: z.string().nullable().describe("region of the speech service that the sender's address belongs to"),
  clientIp: z
    .string()
    .nullable()
    .describe('address of the sender; behind trusted proxies the one they forward'),
  method: z.string().nullable().describe('POST or PUT; GET where content was read'),
  jobId: z
    .string()
    .nullable()
    .describe('job of the speech service; null when the line concerns none or several'),
  status: z.string().nullable().describe('status of the callback'),
  credential: z.string().nullable().describe('name of the credential that was presented'),
  outcome: z.string().meta({ description: 'an open set', examples: [...LEDGER_OUTCOMES] }),
  reason: z
    .string()
    .nullable()
    .describe("a code that `transcript-receiver reasons` explains, or an operator's words"),
  items: z.array(ledgerItemSchema).describe('the stored items, or the one that was read'),
  bytes: count.describe('of the body, as it came over the wire; of what was removed'),
  durationMs: amount.describe('milliseconds from receipt until the line was built'),
  shape: deliveryShapeSchema.nullable(),
  actor: z
    .string()
    .optional()
    .describe('name of the admin token behind a change or an access to content; command-line'),
  wouldRefuse: z.string().optional().describe('in report mode: why enforcement would refuse the address'),
  context: z
    .record(z.string(), z.string())
    .optional()
    .describe("the submitter's own parameters of the callback URL, by name"),
  contextOmitted: z
    .record(z.string(), z.enum(['malformed', 'repeated']))
    .optional()
    .describe('names of `context` whose value was left out, and why'),
  expired: z
    .strictObject({
      kind: z.enum(RETENTION_CLASSES).describe('kind of the objects, as in `retention.<kind>`'),
      objects: count.describe('number of objects; `bytes` of the line is their size'),
    })
    .meta(OPEN)
    .optional()
    .describe('what expired'),
  tooLarge: z
    .strictObject({
      declared: count.nullable().describe('Content-Length; null without one'),
      limit: count.describe('`maxBytes` of the source then'),
    })
    .meta(OPEN)
    .optional()
    .describe('of a body that was too large: bytes'),
  expectedAt: z
    .string()
    .optional()
    .describe(
      'of a job that recovery had to fetch: about when its callback was expected, which is when the service last tried to send it, else when it made the job',
    ),
  wanted: z
    .array(z.enum(WANTED))
    .optional()
    .describe(
      'of a quarantined body: the kinds that it should have brought; `transcript`: in any format; `any`: neither callback nor source says it',
    ),
  body: z.string().optional().describe('`deliveryId` of the quarantined body that was released or dismissed'),
};

export const ledgerLineSchema = z.strictObject(LINE).meta({
  ...OPEN,
  id: 'LedgerLine',
  description: 'One line of the ledger',
});

export const deliveriesSchema = z
  .strictObject({
    deliveries: z.array(ledgerLineSchema),
    nextCursor,
    index: indexExtentSchema,
  })
  .meta({ id: 'Deliveries' });
export type Deliveries = Answer<typeof deliveriesSchema>;

export const failureLineSchema = z
  .strictObject({
    ...LINE,
    retentionEndsAt: instant.describe(
      'until when the speech service can be asked for the job, at the latest',
    ),
  })
  .meta({ ...OPEN, id: 'FailureLine', description: 'The ledger line of a failure that nothing has settled' });

const failureCauseSchema = z
  .strictObject({
    code: z
      .string()
      .describe("a stable code, the service's words, or the outcome where no reason was recorded"),
    source: z.string().nullable(),
    outcome: z.string().meta({ examples: ['refused', 'failed'] }),
    count: count.describe('jobs'),
    first: instant.describe('of the oldest failure'),
    last: instant.describe('of the newest one'),
    remedy: z.string().nullable().describe('what to do; null where nothing general can be said'),
  })
  .meta({ id: 'FailureCause' });

export const acknowledgedSchema = z
  .strictObject({
    count: count.describe('jobs that fail for this cause'),
    acknowledged: count.describe('those of them that were acknowledged; 0 for a preview'),
    jobs: z.array(z.string()).describe('the first 100'),
  })
  .meta({ id: 'Acknowledged' });
export type Acknowledged = Answer<typeof acknowledgedSchema>;

export const failuresSchema = z
  .strictObject({
    failures: z.array(failureLineSchema),
    counts: countsByName.describe('by outcome, of all failures that match'),
    causes: z
      .array(failureCauseSchema)
      .describe(
        'of all open failures that match the other filters: the hundred largest, the largest first, and the one that `cause` asks for',
      ),
    since: instant.describe("failures from then on: what was asked for, within the service's retention"),
    index: indexExtentSchema,
    nextCursor,
  })
  .meta({ id: 'Failures' });
export type Failures = Answer<typeof failuresSchema>;

export const refusalSchema = z
  .strictObject({
    at: instant,
    source: z.string().nullable(),
    clientIp: z.string().nullable(),
    reason: z
      .string()
      .describe('the stable code of a reason; of the admin port `sign-in-` and what was wrong')
      .meta({ examples: ['credential-invalid', 'sign-in-wrong'] }),
    cause: z
      .string()
      .nullable()
      .describe(
        'with `credential-invalid`: what was wrong with the credential, which the sender does not learn',
      )
      .meta({ examples: ['credential-wrong', 'credential-missing'] }),
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

export const refusalsSchema = z
  .strictObject({
    refusals: z.array(refusalSchema),
    nextCursor,
    index: indexExtentSchema,
  })
  .meta({ id: 'Refusals' });
export type Refusals = Answer<typeof refusalsSchema>;

const refusalCountSchema = z
  .strictObject({
    day: z.iso.date().describe('in UTC'),
    source: z.string().nullable().describe('null for requests to no configured source, and for sign-ins'),
    reason: z
      .string()
      .describe('a stable code: what was wrong with the credential, else why the request was refused'),
    count,
    first: instant,
    last: instant,
  })
  .meta({ id: 'RefusalCount' });

export const refusalCountsSchema = z
  .strictObject({
    counts: z
      .array(refusalCountSchema)
      .describe('newest day first; replicas write theirs once a minute and when they end'),
    complete: z.boolean().describe('whether the counts of all replicas were read'),
  })
  .meta({ id: 'RefusalCounts' });
