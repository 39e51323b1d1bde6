import { z } from 'zod';
import { isJobId } from '../../../../domain/job.js';
import { ERASED_AT_ONCE, type ErasureLine, eraseJobs } from '../../../actions/erase/erase-jobs.js';
import { previewErasure } from '../../../actions/erase/jobs-to-erase.js';
import { erasurePreviewSchema, erasureReportSchema } from '../../../answers/erasures.js';
import type { AdminServices } from '../../admin-services.js';
import { jobExtent } from '../../jobs/inspect-job.js';
import { type AdminRoute, adminRoute, ok } from '../admin-route.js';
import { reason } from '../request-schemas.js';

const erasureOrder = z
  .strictObject({
    jobs: z
      .array(z.string().refine(isJobId, 'is no job id'))
      .min(1)
      // The bound keeps an answer within seconds, and a client that disconnects has asked for no more than these.
      .max(ERASED_AT_ONCE)
      .describe('ids of the jobs'),
    unknown: z
      .boolean()
      .default(false)
      .describe('also ids about which nothing is known: what arrives of them later is not stored'),
    dryRun: z.boolean().default(false).describe('only say what is there of them'),
    reason,
  })
  .meta({ id: 'ErasureOrder', examples: [{ jobs: ['job1', 'job2'], dryRun: true }] });

export function erasuresRoutes(services: AdminServices): AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      path: '/erasures',
      right: 'erase',
      tag: 'Jobs',
      summary: `Preview an erasure of up to ${ERASED_AT_ONCE} jobs, or erase them`,
      body: erasureOrder,
      answers: { 200: z.union([erasurePreviewSchema, erasureReportSchema]) },
      problems: ['overloaded'],
      async handle({ body: { jobs: asked, unknown, dryRun, reason = null }, actor, access: { scope } }) {
        await services.fresh();
        const extentOf = scope === null ? undefined : (jobId: string) => jobExtent(services, jobId, scope);
        const jobs = await previewErasure(services, [...new Set(asked)], { extentOf });
        if (dryRun) return ok({ jobs });
        const report: ErasureLine[] = [];
        // An id that is unknown to a token of some sources may be a job of the others.
        const order = { jobs, audit: { actor, reason }, unknown: unknown && scope === null };
        await eraseJobs(services, order, (line) => void report.push(line));
        return ok({ report });
      },
    }),
  ];
}
