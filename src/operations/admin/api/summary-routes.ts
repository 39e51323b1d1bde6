import { NAMED_FILTER_NAMES } from '../../../domain/line-filters.js';
import { SUMMARY_GROUPS } from '../../../domain/summary-groups.js';
import { rejectUnknownNames } from '../../../index/questions/filter-names.js';
import { instantInput, textInput, whole } from '../../../lib/text/read-input.js';
import { summarySchema } from '../../answers/summary.js';
import type { AdminServices } from '../admin-services.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { contextFilter, lineFilters } from './request-schemas.js';

export function summaryRoutes({ view, fresh, facts, refusalCounts, names }: AdminServices): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/summary',
      right: 'view',
      tag: 'Deliveries',
      summary: 'Figures of the deliveries of a time range: in parts for charts, and grouped',
      query: {
        since: instantInput
          .optional()
          .describe(
            'ISO 8601 with a zone, or a date; written at or after it; default: 24 hours before until',
          ),
        until: instantInput.optional().describe('the same; written before it; default: now'),
        buckets: whole(1, 500)
          .optional()
          .describe(
            'number of equal stretches, at most: they are whole minutes, hours or days, and widen the time to these; default 48, or 1 with `by`',
          ),
        by: textInput
          .optional()
          .describe(
            `groups the deliveries: ${SUMMARY_GROUPS.join(', ')}, or context.<name>; hours and days in UTC`,
          ),
        limit: whole(1, 500)
          .default(100)
          .describe(
            'groups, those with the most deliveries; `rest` has the sum of the others. Hours and days are all there',
          ),
        ...lineFilters(NAMED_FILTER_NAMES),
        context: contextFilter,
      },
      answers: { 200: summarySchema },
      async handle({ query, access: { scope }, signal }) {
        await fresh();
        await rejectUnknownNames(query, names, view, scope);
        const refusedRequests = refusalCounts.between;
        const { last: _, ...figures } = await facts.summarise({
          ...query,
          scope,
          signal,
          refusedRequests,
        });
        return ok(figures);
      },
    }),
  ];
}
