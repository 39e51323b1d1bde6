import type { SourceScope } from '../../../domain/rights.js';
import { namesInScope } from '../../../index/questions/filter-names.js';
import { sharedRead } from '../../../lib/time/shared-read.js';
import { healthSchema, namesSchema } from '../../answers/health.js';
import type { SubscriberFigures } from '../../answers/subscribers.js';
import type { AdminServices } from '../admin-services.js';
import { readHealth } from '../read-health.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';

/** Cached, because listings cost money and every open dashboard asks every few seconds. */
const LISTING_CACHE_MS = 2000;
const REPORTS_CACHE_MS = 10_000;

export function healthRoutes(services: AdminServices): AdminRoute[] {
  /** Shared by all clients, so the time-out is that of `factsWithin` rather than of a request. */
  const cachedFor = <T>(milliseconds: number, load: (signal: AbortSignal) => Promise<T>) =>
    sharedRead(milliseconds, () => load(AbortSignal.timeout(services.limits.factsWithin)));
  /** By scope; at most one for each token. */
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
      summary: 'The verdict of health, with its issues and figures',
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
        'Names that filters accept: configured sources and regions, known statuses, outcomes and origins',
      answers: { 200: namesSchema },
      async handle({ access: { scope } }) {
        const subscribers = services.subscriberNames(scope);
        return ok({ ...namesInScope(services.names, scope), subscribers });
      },
    }),
  ];
}
