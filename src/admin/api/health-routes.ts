import { z } from 'zod';
import type { KnownNames } from '../../ledger-view/filter-names.js';
import type { FreshView } from '../../ledger-view/fresh-view.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import { instant, readQuery, whole } from '../../text/read-input.js';
import { brieflyCached } from '../health/briefly-cached.js';
import { type HealthParts, readHealth } from '../health/health.js';
import { type AdminRoute, ok } from './admin-route.js';

export interface HealthRouteParts extends HealthParts {
  readonly view: LedgerView;
  readonly fresh: FreshView;
  readonly names: KnownNames;
}

/** Listings cost money, and the page asks every few seconds on every screen. */
const QUARANTINE_CACHED = 2000;
const RECONCILE_CACHED = 10_000;

const SUMMARY_QUERY = z.strictObject({
  since: instant.optional(),
  until: instant.optional(),
  buckets: whole(1, 500).optional(),
});

export function healthRoutes(parts: HealthRouteParts): AdminRoute[] {
  const health = {
    ...parts,
    quarantine: brieflyCached(QUARANTINE_CACHED, parts.quarantine),
    lastReconcile: brieflyCached(RECONCILE_CACHED, parts.lastReconcile),
  };
  return [
    {
      method: 'GET',
      path: '/health',
      async handle({ query }) {
        readQuery(z.strictObject({}), query);
        await parts.fresh();
        return ok(await readHealth(health, Date.now()));
      },
    },
    {
      method: 'GET',
      path: '/names',
      async handle({ query }) {
        readQuery(z.strictObject({}), query);
        return ok(parts.names);
      },
    },
    {
      method: 'GET',
      path: '/summary',
      async handle({ query }) {
        const range = readQuery(SUMMARY_QUERY, query);
        await parts.fresh();
        return ok(await parts.view.summary(range));
      },
    },
  ];
}
