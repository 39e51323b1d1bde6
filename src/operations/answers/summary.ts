import { z } from 'zod';
import { indexExtentSchema } from './index-extent.js';
import { type Answer, amount, count, countsByName, instant } from './values.js';

/** Figures of deliveries. */
export const SUMMARY_FIGURES = {
  lines: count.describe('deliveries'),
  bytes: count,
  callbacks: count,
  refused: count.describe('callbacks that were not answered 2xx, with those requests that left no line'),
  outcomes: countsByName,
  duration: z
    .strictObject({ p50: amount, p95: amount, p99: amount, max: amount })
    .nullable()
    .describe('milliseconds a callback took; null without callbacks'),
  missed: count.describe(
    'jobs whose callback was expected then and did not come, so that recovery had to fetch the results',
  ),
};

export const summarySchema = z
  .strictObject({
    since: instant,
    until: instant,
    resolutionMs: count.describe('the period and its stretches begin at multiples of it'),
    total: z.strictObject(SUMMARY_FIGURES),
    buckets: z
      .array(z.strictObject({ start: instant, ...SUMMARY_FIGURES }))
      .describe('equal stretches of time, oldest first; the last one may be shorter'),
    by: z.string().nullable(),
    groups: z
      .array(
        z.strictObject({
          value: z
            .string()
            .nullable()
            .describe(
              'null: none, or what `note` says; the beginning of an hour or a day; a cause is a code',
            ),
          source: z.string().nullable().describe('of a cause'),
          note: z
            .enum(['omitted'])
            .nullable()
            .describe('of a context: its value was left out when the callback arrived'),
          ...SUMMARY_FIGURES,
        }),
      )
      .nullable()
      .describe('by size, and hours and days by time; null without `by`'),
    rest: z
      .strictObject({ groups: count, ...SUMMARY_FIGURES })
      .nullable()
      .describe('groups beyond the limit, and their sum'),
    acts: count
      .nullable()
      .describe('lines of what operators did, which are no deliveries; null with a filter by context'),
    unrecorded: count
      .nullable()
      .describe(
        'requests in `callbacks` and `refused` that left no line, most likely the service’s; null where they could not be read',
      ),
    index: indexExtentSchema,
  })
  .meta({ id: 'Summary' });
export type Summary = Answer<typeof summarySchema>;
