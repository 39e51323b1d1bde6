import { z } from 'zod';
import { erasedSchema, erasureRecord } from './jobs.js';
import { type Answer, count, instant } from './values.js';

export const erasurePreviewSchema = z
  .strictObject({
    jobs: z.array(
      z.strictObject({
        jobId: z.string(),
        state: z
          .enum(['known', 'erased', 'unknown', 'shared'])
          .describe(
            '`erased`: completely, before; `shared`: it also has results of sources that the token may not see',
          ),
        objects: count.describe('artefacts and conflicts, in their latest version'),
        bytes: count,
        quarantined: count.describe('quarantined bodies'),
        erasure: z.strictObject(erasureRecord).nullable().describe('null while something may be left'),
        protected: z
          .strictObject({ until: instant.nullable().describe('null when that is unknown') })
          .nullable()
          .describe(
            'a retention or a legal hold, as far as the store shows it: erasing hides the object until then',
          ),
      }),
    ),
  })
  .meta({ id: 'ErasurePreview' });
export type ErasurePreview = Answer<typeof erasurePreviewSchema>;

export const erasureReportSchema = z
  .strictObject({
    report: z
      .array(
        z.union([
          erasedSchema,
          z.strictObject({ jobId: z.string(), complete: z.literal(true), ...erasureRecord }),
          z.strictObject({ jobId: z.string(), error: z.string() }),
        ]),
      )
      .describe('one for each job, as the lines of `erase --report`: erased now, erased before, not erased'),
  })
  .meta({ id: 'ErasureReport' });
export type ErasureReport = Answer<typeof erasureReportSchema>;
