import { z } from 'zod';
import { ITEM_KINDS } from '../../domain/kinds.js';
import { QUARANTINE_STATES, SETTLED_BY } from '../../domain/quarantined-body.js';
import { storedItemSchema } from './deliveries.js';
import { indexExtentSchema } from './index-extent.js';
import { type Answer, count, instant, nextCursor, OPEN, ulid } from './values.js';

const releaseSchema = z
  .strictObject({
    v: z.literal(1),
    deliveryId: ulid,
    releasedAt: instant,
    actor: z.string(),
    reason: z.string().nullable(),
    outcome: z.string(),
    items: z.array(storedItemSchema),
  })
  .meta({ ...OPEN, id: 'Release', description: 'What became of a released body' });

export const settlementSchema = z
  .strictObject({
    v: z.literal(1),
    settledAt: instant,
    by: z
      .enum(SETTLED_BY)
      .describe('an operator dismissed the body, acknowledged its job, refetched it or imported its files'),
    deliveryId: ulid.describe("of the act's ledger line"),
    actor: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ ...OPEN, id: 'Settlement', description: 'Why a body need not be released' });

const BODY = {
  v: z.literal(1),
  deliveryId: ulid,
  receivedAt: instant,
  source: z.string(),
  region: z.string().nullable(),
  clientIp: z.string().nullable(),
  method: z.string(),
  jobId: z.string(),
  status: z.string(),
  query: z.string().describe('the parameters that the receiver understands'),
  headers: z.record(z.string(), z.string()).describe('well-known request headers, by lower-case name'),
  reason: z
    .string()
    .describe('why the body could not be decoded')
    .meta({ examples: ['json-invalid'] }),
  detail: z.string(),
  bytes: count,
  sha256: z.string(),
  state: z
    .enum(QUARANTINE_STATES)
    .describe('`settled`: its job has what it should have brought, or an operator settled it'),
  release: releaseSchema.nullable(),
  settlement: settlementSchema
    .nullable()
    .describe('null also of a body that is settled because its job has what it should have brought'),
};

const quarantinedBodySchema = z.strictObject(BODY).meta({ ...OPEN, id: 'QuarantinedBody' });
export type ListedBody = Answer<typeof quarantinedBodySchema>;

export const quarantineSchema = z
  .strictObject({ quarantine: z.array(quarantinedBodySchema), nextCursor, index: indexExtentSchema })
  .meta({ id: 'Quarantine' });
export type QuarantineList = Answer<typeof quarantineSchema>;

export const quarantinedBodyViewSchema = z
  .strictObject({
    ...BODY,
    preview: z
      .strictObject({ text: z.string(), truncated: z.boolean(), binary: z.boolean() })
      .describe('the beginning of the body; control characters are shown as U+FFFD'),
    decodes: z
      .discriminatedUnion('ok', [
        z.strictObject({ ok: z.literal(true), items: z.array(z.enum(ITEM_KINDS)) }),
        z.strictObject({ ok: z.literal(false), reason: z.string(), detail: z.string() }),
      ])
      .describe('the body as the current program and configuration decode it'),
  })
  .meta({ ...OPEN, id: 'QuarantinedBodyView' });
export type QuarantinedBodyView = Answer<typeof quarantinedBodyViewSchema>;
