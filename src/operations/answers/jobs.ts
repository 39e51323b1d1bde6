import { z } from 'zod';
import { FAILURES } from '../../domain/failure-rules.js';
import { CONTENT_CLASSES, ITEM_KINDS } from '../../domain/kinds.js';
import { RECOVERY_OUTCOMES } from '../../domain/recovery-outcome.js';
import { ledgerLineSchema, storedItemSchema } from './deliveries.js';
import { indexExtentSchema } from './index-extent.js';
import { toldEventSchema } from './subscribers.js';
import { type Answer, count, instant, ulid } from './values.js';

export const artefactSchema = z
  .strictObject({
    key: z.string(),
    kind: z.enum(ITEM_KINDS),
    size: count,
    sha256: z.string().nullable().describe('null when neither the object nor a ledger line has it'),
    replaced: z.string().nullable().describe('SHA-256 of what an operator replaced by choosing this'),
    contentType: z.string(),
    origin: z.string().nullable(),
    storedAt: instant,
  })
  .meta({ id: 'Artefact' });
export type ListedArtefact = Answer<typeof artefactSchema>;

export const jobSchema = z
  .strictObject({
    jobId: z.string(),
    artefacts: z.array(artefactSchema),
    timeline: z.array(ledgerLineSchema).describe('oldest first; the newest 500, and as many accesses'),
    isCut: z.boolean().describe('the job has older lines: `GET deliveries` lists them'),
    failure: z
      .strictObject({
        outcome: z.string().meta({ examples: [...FAILURES] }),
        reason: z.string().nullable(),
        receivedAt: instant,
      })
      .nullable()
      .describe('the open failure for which `GET /failures` lists the job, of any age; null without one'),
    expired: z
      .array(
        z.strictObject({
          kind: z.enum(CONTENT_CLASSES).describe('as in `retention.<kind>`'),
          objects: count,
          bytes: count,
          expiredAt: instant.describe(
            'when they were removed; by the rules of a bucket: when their period was over',
          ),
        }),
      )
      .describe('objects that expired, oldest first; empty for an erased job'),
    lost: z
      .array(
        z.strictObject({
          key: z.string(),
          kind: z.enum(ITEM_KINDS),
          size: count,
          sha256: z.string(),
          storedAt: instant.describe('of the line that records it'),
        }),
      )
      .describe(
        'artefacts that the ledger says were stored, that did not expire, and that are not in the store now',
      ),
    erasure: z
      .strictObject({
        erasedAt: instant,
        complete: z.boolean().describe('false: something is hidden, but not removed yet'),
        keptUntil: instant.nullable().describe('when the rest can be removed; null when that is unknown'),
      })
      .nullable()
      .describe('null unless an operator erased the job; nothing of it is stored again'),
    events: z
      .array(toldEventSchema)
      .describe('what each subscriber was sent about the job, as far back as the index reaches'),
    index: indexExtentSchema,
    service: z
      .strictObject({ region: z.string(), record: z.record(z.string(), z.unknown()) })
      .nullable()
      .describe("the speech service's own record without secrets"),
    serviceAnswer: z
      .enum(['found', 'unknown', 'unreachable', 'not-configured', 'not-asked'])
      .describe('why `service` is null: no region has the job, one did not answer, or none was asked'),
  })
  .meta({ id: 'Job' });
export type Job = Answer<typeof jobSchema>;

export const jobMatchesSchema = z
  .strictObject({
    jobs: z.array(
      z.strictObject({
        jobId: z.string(),
        by: z.enum(['id', 'context']).describe('what the text is, or is a part of'),
        context: z.record(z.string(), z.string()).nullable(),
        receivedAt: instant.describe('of the newest line that was found'),
        outcome: z.string().describe('of the same line'),
      }),
    ),
    more: z.boolean().describe('the limit was reached: more jobs may match'),
    index: indexExtentSchema,
  })
  .meta({ id: 'JobMatches' });
export type JobMatches = Answer<typeof jobMatchesSchema>;

export const ticketSchema = z.strictObject({ ticket: z.string(), expires: instant }).meta({ id: 'Ticket' });
export type Ticket = Answer<typeof ticketSchema>;

export const takenSchema = z
  .strictObject({
    deliveryId: ulid,
    jobId: z.string(),
    status: z.string().nullable(),
    outcome: z.string().meta({ examples: ['stored', 'duplicate', 'conflict'] }),
    items: z.array(storedItemSchema),
  })
  .meta({ id: 'Taken', description: 'Files that were taken into the archive, answered like a callback' });
export type Taken = Answer<typeof takenSchema>;

export const refetchedSchema = z
  .strictObject({
    jobId: z.string(),
    region: z.string().nullable().describe('null when no region knows the job'),
    outcome: z.enum(RECOVERY_OUTCOMES),
    reason: z.string().nullable(),
    items: z.array(
      z.strictObject({
        kind: z.enum(ITEM_KINDS),
        key: z.string(),
        outcome: z.enum([
          'created',
          'identical',
          'conflict',
          'missing',
          'expired',
          'unrecoverable',
          'failed',
        ]),
      }),
    ),
    recorded: z
      .literal(true)
      .optional()
      .describe('the job has no transcript, its callback was lost, and its end was recorded now'),
  })
  .meta({ id: 'Refetched' });
export type Refetched = Answer<typeof refetchedSchema>;

export const erasedSchema = z
  .strictObject({
    jobId: z.string(),
    deliveryId: ulid.describe('of the ledger line that records the erasure'),
    complete: z.boolean().describe('false: not everything could be removed; erase again later'),
    erasedAt: instant.describe('when the erasure had searched everything'),
    actor: z.string().describe('name of the token, or `command-line`'),
    reason: z.string().nullable(),
    erased: z.strictObject({
      artefacts: count,
      conflicts: count,
      quarantined: count,
      events: count.describe('events that were not delivered to a subscriber'),
      versions: count.describe('old versions of any of them'),
      uploads: count.describe('uploads that were not completed'),
      bytes: count,
    }),
    kept: z
      .strictObject({
        versions: count,
        bytes: count,
        reasons: z.array(z.enum(['retention', 'legal-hold', 'denied', 'unlisted'])),
        until: instant.nullable().describe('when all of it can be removed; null when that is unknown'),
      })
      .nullable()
      .describe('what is hidden, but cannot be removed yet'),
  })
  .meta({ id: 'Erased' });
export type Erased = Answer<typeof erasedSchema>;
