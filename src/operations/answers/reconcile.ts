import { z } from 'zod';
import { type Answer, count, countsByName, instant } from './values.js';

const RUN = {
  startedAt: instant,
  actor: z.string().nullable().describe('who started it; null for an automatic run'),
};

export const reconcileStateSchema = z
  .strictObject({
    replica: z.string().describe('whose runs these are'),
    running: z
      .strictObject({
        ...RUN,
        checked: count.describe('jobs so far'),
        recovered: count,
        failed: count,
      })
      .nullable(),
    last: z
      .strictObject({
        ...RUN,
        finishedAt: instant,
        outcomes: countsByName,
        recorded: count.describe('jobs without a transcript whose end the run recorded'),
        ignored: count.describe('jobs that belong to no source here'),
        unconfigured: countsByName.describe(
          'how many of these have a callback URL that leads here, by its source, which is not configured',
        ),
        faults: z
          .array(z.strictObject({ region: z.string().nullable(), reason: z.string() }))
          .describe('why the run was incomplete'),
      })
      .nullable()
      .describe('the last run of this replica since its start; GET /health has the last complete one of all'),
  })
  .meta({ id: 'ReconcileState' });
export type ReconcileState = Answer<typeof reconcileStateSchema>;
