import { z } from 'zod';
import { EVENT_ENDS } from '../../domain/sent-attempt.js';
import { indexExtentSchema } from './index-extent.js';
import { issueSchema } from './issue.js';
import { type Answer, count, instant, nextCursor } from './values.js';

const attemptSchema = z.strictObject({
  at: instant,
  status: z.int().nullable().describe('status of the answer; null when there was none'),
  error: z.string().nullable().describe('what failed, such as `timeout`; null when there was an answer'),
  answer: z.string().optional().describe('beginning of the answer, at most 200 characters; not of a 2xx'),
});

export const testedSchema = attemptSchema
  .extend({ delivered: z.boolean().describe('the answer was 2xx') })
  .meta({ id: 'Tested' });
export type Tested = Answer<typeof testedSchema>;

export const subscriberSchema = z
  .strictObject({
    name: z.string(),
    url: z.string().describe('scheme, host and port; path and query may hold a secret and are left out'),
    events: z.array(z.string()),
    sources: z.array(z.string()).describe('those of the token; empty: all'),
    stateDamaged: z
      .boolean()
      .describe('its state cannot be read: nothing is sent to it, and all figures but `dead` are unknown'),
    since: instant
      .nullable()
      .describe('earlier events are sent by a replay only; null before the first start'),
    lagSeconds: count.describe('age of the oldest event that is not sent yet; 0 when all are'),
    sent: count.describe('events that were delivered, as far back as the index reaches'),
    lastSentAt: instant.nullable(),
    retried: count.describe('attempts after the first one of their event, as far back'),
    retrying: count.describe('events that failed and will be tried again'),
    untried: count.describe('events behind the position of the sender that were not tried yet'),
    dead: count.describe('events that ended without being sent and wait for a replay'),
    bySource: z
      .array(
        z.strictObject({
          source: z.string().nullable(),
          sent: count,
          retrying: count,
          untried: count,
          dead: count,
        }),
      )
      .describe('the same by source, those of the token'),
    lastError: attemptSchema.nullable().describe('the last attempt that failed, however long ago'),
    breaker: z
      .enum(['closed', 'open'])
      .describe('open: the address fails, and one request at a time tries it'),
    openSince: instant.nullable(),
    pausedUntil: instant
      .nullable()
      .describe(
        'while `breaker` is open: nothing is sent before, unless somebody sends an event with success',
      ),
    sender: z.string().nullable().describe('replica that sends at present'),
    issues: z.array(issueSchema).describe('those of the verdict that concern it'),
  })
  .meta({ id: 'Subscriber' });
export type SubscriberFigures = Answer<typeof subscriberSchema>;

export const subscribersSchema = z
  .strictObject({ subscribers: z.array(subscriberSchema), index: indexExtentSchema, nextCursor })
  .meta({ id: 'Subscribers' });
export type Subscribers = Answer<typeof subscribersSchema>;

export const deadEventSchema = z
  .strictObject({
    event: z
      .looseObject({
        id: z.string(),
        type: z.string(),
        time: instant,
        data: z.looseObject({ jobId: z.string() }),
      })
      .describe('the CloudEvent as it was sent'),
    reason: z
      .enum(['rejected', 'expired', 'failed'])
      .describe(
        'the answer was final, it failed for 24 hours, or in a replay of what is older than the subscription',
      ),
    endedAt: instant,
    firstTriedAt: instant,
    attempts: count,
    history: z.array(attemptSchema).describe('the first and the last attempts, oldest first'),
  })
  .meta({ id: 'DeadEvent' });

export const deadEventsSchema = z
  .strictObject({
    deadEvents: z.array(deadEventSchema),
    nextCursor,
  })
  .meta({ id: 'DeadEvents' });
export type DeadEvents = Answer<typeof deadEventsSchema>;

/** State of an event for a subscriber. */
const toldFields = {
  event: z.string().describe('id of the event'),
  type: z.string().meta({ examples: ['job.stored', 'job.failed', 'job.erased'] }),
  source: z.string().nullable(),
  at: instant.nullable().describe('of the attempt that says so; null without one'),
  status: z.int().nullable().describe('status of its answer; null when there was none'),
  error: z.string().nullable().describe('what failed, such as `timeout`'),
  attempts: count.describe('how often it was tried'),
  history: z
    .array(attemptSchema)
    .describe('of an event that waits, unless very many do: the first and the last attempts, oldest first'),
};

const SENT_OUTCOMES = [...EVENT_ENDS, 'waiting'] as const;

export const sentOutcome = z
  .enum(SENT_OUTCOMES)
  .describe(
    'delivered; rejected: 410; expired: it failed for 24 hours; failed: in a replay, which tried it once; dropped: its job was erased before; waiting: it is tried again',
  );

export const toldEventSchema = z
  .strictObject({
    subscriber: z.string(),
    ...toldFields,
    outcome: z
      .enum([...SENT_OUTCOMES, 'untried', 'unknown'])
      .describe(
        'as in `GET /subscribers/{id}/events`, and of a subscriber that is not configured any more, waiting: once it is again; untried: behind the position of the sender; unknown: the position passed it, and no attempt is on record',
      ),
  })
  .meta({ id: 'EventDelivery' });

export const sentEventsSchema = z
  .strictObject({
    events: z.array(
      z.strictObject({
        ...toldFields,
        at: instant.describe('of the attempt that says what became of it'),
        jobId: z.string(),
        outcome: sentOutcome,
        durationMs: count.describe('of that attempt'),
      }),
    ),
    index: indexExtentSchema,
    nextCursor,
  })
  .meta({ id: 'SentEvents' });
export type SentEvents = Answer<typeof sentEventsSchema>;
