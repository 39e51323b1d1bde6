import { z } from 'zod';
import { FAILURES } from '../../../domain/failure-rules.js';
import { rejectUnknownNames } from '../../../index/questions/filter-names.js';
import { instantInput, reasonText, textInput } from '../../../lib/text/read-input.js';
import { instantOf } from '../../../lib/time/instant.js';
import { acknowledgeJobs } from '../../actions/acknowledge-job.js';
import { acknowledgedSchema, failuresSchema } from '../../answers/deliveries.js';
import type { AdminServices } from '../admin-services.js';
import { jobExtent } from '../jobs/job-extent.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { lineFilters, page } from './request-schemas.js';

const PREVIEWED_JOBS = 100;

const causeFilter = textInput.describe('code of a cause, as `causes` has it');
const acknowledgeOrder = z
  .strictObject({
    cause: causeFilter,
    ...lineFilters(['source']),
    dryRun: z.boolean().default(false).describe('only say which jobs it would be'),
    reason: reasonText.describe('required unless it is a preview'),
  })
  .refine(({ dryRun, reason }) => dryRun || Boolean(reason), 'reason is missing')
  .meta({ id: 'AcknowledgeCause' });

export function failuresRoutes(services: AdminServices): AdminRoute[] {
  const { view, fresh, names } = services;
  return [
    adminRoute({
      method: 'GET',
      path: '/failures',
      right: 'view',
      tag: 'Deliveries',
      summary:
        'Jobs whose last ledger line is a failure that nothing has settled, and their causes; the job that the service drops first comes first',
      query: {
        outcome: textInput.optional().describe(FAILURES.join(', ')),
        ...lineFilters(['source', 'region']),
        since: instantInput.optional().describe('failed at or after it'),
        cause: causeFilter.optional(),
        ...page(100),
      },
      answers: { 200: failuresSchema },
      async handle({ query: { since, limit, cursor, cause, ...filters }, access: { scope } }) {
        await fresh();
        await rejectUnknownNames(filters, names, view, scope);
        const query = { ...filters, cause, since: instantOf('since', since), scope };
        return ok(await view.openFailures({ ...query, limit, cursor }));
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/failures/acknowledge',
      right: 'repair',
      tag: 'Deliveries',
      summary: 'Preview or settle all jobs that fail for a cause, as they are',
      body: acknowledgeOrder,
      answers: { 200: acknowledgedSchema },
      problems: ['conflict', 'overloaded'],
      async handle({ body: { cause, source, dryRun, reason }, actor, access: { scope } }) {
        await fresh();
        await rejectUnknownNames({ source }, names, view, scope);
        const { jobs } = await view.allFailing({ cause, source, scope });
        const answer = { count: jobs.length, jobs: jobs.slice(0, PREVIEWED_JOBS) };
        if (dryRun || !reason) return ok({ ...answer, acknowledged: 0 });
        const isWhole = async (jobId: string) => (await jobExtent(services, jobId, scope)) === 'all';
        const isAllowed = scope === null ? undefined : isWhole;
        const acknowledged = await acknowledgeJobs(
          services.ledger,
          jobs,
          { actor, reason, scope },
          isAllowed,
        );
        return ok({ ...answer, acknowledged });
      },
    }),
  ];
}
