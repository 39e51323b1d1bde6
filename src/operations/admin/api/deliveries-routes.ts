import { z } from 'zod';
import { LINE_FILTER_NAMES } from '../../../domain/line-filters.js';
import { isInScope } from '../../../domain/rights.js';
import { rejectUnknownNames } from '../../../index/questions/filter-names.js';
import { textInput } from '../../../lib/text/read-input.js';
import { deliveriesSchema, refusalCountsSchema, refusalsSchema } from '../../answers/deliveries.js';
import type { AdminServices } from '../admin-services.js';
import { listRefusals } from '../list-refusals.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { contextFilter, jobFilter, lineFilters, page, RANGE } from './request-schemas.js';

export function deliveriesRoutes({
  view,
  fresh,
  refusals,
  refusalCounts,
  names,
}: AdminServices): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/deliveries',
      right: 'view',
      tag: 'Deliveries',
      summary: 'Ledger lines, newest first',
      query: {
        ...RANGE,
        job: jobFilter,
        ...lineFilters(LINE_FILTER_NAMES),
        context: contextFilter,
        without: z
          .literal('acts')
          .optional()
          .describe('acts: leaves out what operators did, accesses included'),
        only: z
          .literal('acts')
          .optional()
          .describe('acts: lists what operators did, accesses included, and nothing else'),
        contextOmitted: textInput
          .optional()
          .describe('a name of the context whose value was left out, without `context`'),
        ...page(50),
      },
      answers: { 200: deliveriesSchema },
      async handle({ query, access: { scope }, signal }) {
        await fresh();
        await rejectUnknownNames(query, names, view, scope);
        return ok(await view.deliveries({ ...query, scope, signal }));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/refusals',
      right: 'view',
      tag: 'Deliveries',
      summary:
        'Refused requests, newest first: unauthenticated ones that this replica saw, authenticated ones of all replicas',
      query: page(50),
      answers: { 200: refusalsSchema },
      async handle({ query, access: { scope }, signal }) {
        await fresh();
        return ok(await listRefusals(refusals, view, { ...query, scope, signal }));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/refusals/counts',
      right: 'view',
      tag: 'Deliveries',
      summary: 'Unauthenticated requests that all replicas refused since the beginning of yesterday in UTC',
      answers: { 200: refusalCountsSchema },
      async handle({ access: { scope } }) {
        const { counts, complete } = await refusalCounts.daily();
        return ok({ counts: counts.filter(({ source }) => isInScope(scope, source)), complete });
      },
    }),
  ];
}
