import { z } from 'zod';
import { ITEM_KINDS } from '../../../domain/item.js';
import { storedItemSchema } from './deliveries.js';
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
  state: z.enum(['waiting', 'released']),
  release: releaseSchema.nullable(),
};

const quarantinedBodySchema = z.strictObject(BODY).meta({ ...OPEN, id: 'QuarantinedBody' });
export type QuarantinedBody = Answer<typeof quarantinedBodySchema>;

export const quarantineSchema = z
  .strictObject({ quarantine: z.array(quarantinedBodySchema), nextCursor })
  .meta({ id: 'Quarantine' });
export type Quarantine = Answer<typeof quarantineSchema>;

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
      .describe("what today's decoder and configuration make of the body"),
  })
  .meta({ ...OPEN, id: 'QuarantinedBodyView' });
export type QuarantinedBodyView = Answer<typeof quarantinedBodyViewSchema>;
