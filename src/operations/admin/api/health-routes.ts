import { NAMED_FILTER_NAMES } from '../../../domain/line-filters.js';
import type { SourceScope } from '../../../domain/rights.js';
import { SUMMARY_GROUPS } from '../../../domain/summary-groups.js';
import { namesInScope, rejectUnknownNames } from '../../../index/questions/filter-names.js';
import { instantInput, textInput, whole } from '../../../lib/text/read-input.js';
import { sharedRead } from '../../../lib/time/shared-read.js';
import { healthSchema, namesSchema, summarySchema } from '../../answers/health.js';
import type { SubscriberFigures } from '../../answers/subscribers.js';
import type { AdminServices } from '../admin-services.js';
import { readHealth } from '../read-health.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { contextFilter, lineFilters } from './request-schemas.js';

/** Listings cost money, and every open dashboard asks every few seconds. */
const LISTING_CACHE_MS = 2000;
const REPORTS_CACHE_MS = 10_000;

export function healthRoutes(services: AdminServices): AdminRoute[] {
  /** Whoever shares an answer has as much patience: the signal ends what takes longer. */
  const cachedFor = <T>(milliseconds: number, load: (signal: AbortSignal) => Promise<T>) =>
    sharedRead(milliseconds, () => load(AbortSignal.timeout(services.limits.factsWithin)));
  /** By scope. There are at most as many as tokens. */
  const subscribers = new Map<string, () => Promise<readonly SubscriberFigures[]>>();
  const facts = {
    ...services.facts,
    subscribers(scope: SourceScope) {
      const key = JSON.stringify(scope && [...scope].sort());
      const read =
        subscribers.get(key) ??
        cachedFor(LISTING_CACHE_MS, (signal) => services.facts.subscribers(scope, signal));
      subscribers.set(key, read);
      return read();
    },
    lastReconcile: cachedFor(REPORTS_CACHE_MS, services.facts.lastReconcile),
    lastVerify: cachedFor(REPORTS_CACHE_MS, services.facts.lastVerify),
  };
  return [
    adminRoute({
      method: 'GET',
      path: '/health',
      right: 'view',
      isUrgent: true,
      tag: 'Health',
      summary: 'Is all well?',
      answers: { 200: healthSchema },
      async handle({ access: { scope } }) {
        await services.fresh();
        return ok(await readHealth(services.self, facts, services.limits.factsWithin, Date.now(), scope));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/names',
      right: 'view',
      isUrgent: true,
      tag: 'Health',
      summary:
        'Names that filters take: configured sources and regions, known statuses, outcomes and origins',
      answers: { 200: namesSchema },
      async handle({ access: { scope } }) {
        const subscribers = services.subscriberNames(scope);
        return ok({ ...namesInScope(services.names, scope), subscribers });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/summary',
      right: 'view',
      tag: 'Health',
      summary: 'Figures of the deliveries of any time: in parts for charts, and grouped',
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
        await services.fresh();
        await rejectUnknownNames(query, services.names, services.view, scope);
        const refusedRequests = services.refusalCounts.between;
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
