import type { KnownNames } from '../../ledger-view/filter-names.js';
import type { FreshView } from '../../ledger-view/fresh-view.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import { instant, whole } from '../../text/read-input.js';
import { brieflyCached } from '../health/briefly-cached.js';
import { type HealthParts, readHealth } from '../health/health.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { healthSchema, namesSchema, summarySchema } from './answers/health.js';

export interface HealthRouteParts extends HealthParts {
  readonly view: LedgerView;
  readonly fresh: FreshView;
  readonly names: KnownNames;
}

/** Listings cost money, and the page asks every few seconds on every screen. */
const QUARANTINE_CACHED = 2000;
const RECONCILE_CACHED = 10_000;

export function healthRoutes(parts: HealthRouteParts): AdminRoute[] {
  const health = {
    ...parts,
    quarantine: brieflyCached(QUARANTINE_CACHED, parts.quarantine),
    lastReconcile: brieflyCached(RECONCILE_CACHED, parts.lastReconcile),
  };
  return [
    adminRoute({
      method: 'GET',
      path: '/health',
      tag: 'Health',
      summary: 'Is all well?',
      answers: { 200: healthSchema },
      async handle() {
        await parts.fresh();
        return ok(await readHealth(health, Date.now()));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/names',
      tag: 'Health',
      summary:
        'Names that filters take: configured sources and regions, known statuses, outcomes and origins',
      answers: { 200: namesSchema },
      async handle() {
        return ok(parts.names);
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/summary',
      tag: 'Health',
      summary: 'Figures over a stretch of time, for charts',
      query: {
        since: instant.optional().describe('ISO 8601 with a zone, or a date; default: 24 hours before until'),
        until: instant.optional().describe('the same; default: now'),
        buckets: whole(1, 500).default(48).describe('number of equal stretches'),
      },
      answers: { 200: summarySchema },
      async handle({ query }) {
        await parts.fresh();
        return ok(await parts.view.summary(query));
      },
    }),
  ];
}
