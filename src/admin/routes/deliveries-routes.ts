import { z } from 'zod';
import type { RefusalRing } from '../../observe/refusal-ring.js';
import { type AdminRoute, ok } from '../admin-route.js';
import type { FreshView } from '../fresh-view.js';
import type { LedgerView } from '../ledger-view.js';
import { cursorText, instant, readQuery, text, whole } from '../read-input.js';
import { listRefusals } from '../refusal-list.js';

export interface DeliveriesRouteParts {
  readonly view: LedgerView;
  readonly fresh: FreshView;
  readonly refusals: Pick<RefusalRing, 'list'>;
}

const PAGE = { limit: whole(1, 500).optional(), cursor: cursorText.optional() };

const DELIVERIES_QUERY = z.strictObject({
  since: instant.optional(),
  until: instant.optional(),
  job: text.optional(),
  source: text.optional(),
  region: text.optional(),
  status: text.optional(),
  outcome: text.optional(),
  origin: text.optional(),
  ...PAGE,
});

export function deliveriesRoutes({ view, fresh, refusals }: DeliveriesRouteParts): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/deliveries',
      async handle({ query }) {
        const filters = readQuery(DELIVERIES_QUERY, query);
        await fresh();
        return ok(await view.deliveries(filters));
      },
    },
    {
      method: 'GET',
      path: '/failures',
      async handle({ query }) {
        const { limit = 100 } = readQuery(z.strictObject({ limit: PAGE.limit }), query);
        await fresh();
        return ok(await view.openFailures(limit));
      },
    },
    {
      method: 'GET',
      path: '/refusals',
      async handle({ query }) {
        const { limit = 50, cursor } = readQuery(z.strictObject(PAGE), query);
        await fresh();
        return ok(await listRefusals(refusals, view, { limit, cursor }));
      },
    },
  ];
}
