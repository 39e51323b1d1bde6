import { z } from 'zod';
import { indexExtentSchema } from './index-extent.js';
import { type Answer, count, countsByName, instant, nextCursor, ulid } from './values.js';

const REPLAY = {
  replayId: ulid,
  state: z
    .enum(['running', 'done', 'cancelled', 'interrupted'])
    .describe('an interrupted replay is resumed by any replica'),
  total: count,
  done: count,
  failed: count,
  outcomes: countsByName,
  bytes: count,
  createdAt: instant,
  finishedAt: instant.nullable(),
  actor: z.string(),
  reason: z.string().nullable(),
  selector: z
    .strictObject({
      kind: z.enum(['refetch', 'release', 'notify']),
      subscriber: z.string().optional(),
      dead: z.boolean().optional(),
      jobs: z.array(z.string()).optional().describe('the first of them; `total` counts all'),
      events: z.array(z.string()).optional(),
      since: z.string().optional(),
      until: z.string().optional(),
      source: z.string().optional(),
      region: z.string().optional(),
      status: z.string().optional(),
      outcome: z.string().optional(),
      context: z.string().optional(),
      cause: z.string().optional(),
      sources: z.array(z.string()).optional().describe('those of the token that started it'),
    })
    .describe('what was ordered'),
  owner: z.string().describe('replica that runs it, or ran it last'),
};

const replaySchema = z.strictObject(REPLAY).meta({ id: 'Replay' });
export type Replay = Answer<typeof replaySchema>;

export const replaysSchema = z
  .strictObject({ replays: z.array(replaySchema), nextCursor, index: indexExtentSchema })
  .meta({ id: 'Replays' });
export type ReplayList = Answer<typeof replaysSchema>;

const replayFailureSchema = z
  .strictObject({
    item: z.string().describe('a job id, the delivery id of a quarantined body, or the place of an event'),
    jobId: z.string(),
    outcome: z.string(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'ReplayFailure' });

export const replayInFullSchema = z
  .strictObject({ ...REPLAY, failures: z.array(replayFailureSchema).describe('the first 100') })
  .meta({ id: 'ReplayInFull' });
export type ReplayInFull = Answer<typeof replayInFullSchema>;

export const replayPreviewSchema = z
  .strictObject({
    count: count.describe('items that the replay would process'),
    bytes: count,
    jobs: z.array(z.string()).describe('the first 100'),
  })
  .meta({ id: 'ReplayPreview' });
export type ReplayPreview = Answer<typeof replayPreviewSchema>;

export const replayStartedSchema = z.strictObject({ replayId: ulid }).meta({ id: 'ReplayStarted' });
export type ReplayStarted = Answer<typeof replayStartedSchema>;
