import { z } from 'zod';
import { instantOf } from '../../ledger-view/delivery-query.js';
import { checkNames, type KnownNames } from '../../ledger-view/filter-names.js';
import type { FreshView } from '../../ledger-view/fresh-view.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import { listRefusals } from '../../ledger-view/refusal-list.js';
import type { RefusalRing } from '../../observe/refusal-ring.js';
import { cursorText, instant, readQuery, text, whole } from '../../text/read-input.js';
import { type AdminRoute, ok } from './admin-route.js';

export interface DeliveriesRouteParts {
  readonly view: LedgerView;
  readonly fresh: FreshView;
  readonly refusals: Pick<RefusalRing, 'list'>;
  readonly names: KnownNames;
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

const FAILURES_QUERY = z.strictObject({
  outcome: text.optional(),
  source: text.optional(),
  region: text.optional(),
  since: instant.optional(),
  ...PAGE,
});

export function deliveriesRoutes({ view, fresh, refusals, names }: DeliveriesRouteParts): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/deliveries',
      async handle({ query }) {
        const filters = readQuery(DELIVERIES_QUERY, query);
        await fresh();
        checkNames(filters, names, view);
        return ok(await view.deliveries(filters));
      },
    },
    {
      method: 'GET',
      path: '/failures',
      async handle({ query }) {
        const { since, limit = 100, ...filters } = readQuery(FAILURES_QUERY, query);
        await fresh();
        checkNames(filters, names, view);
        return ok(await view.openFailures({ ...filters, since: instantOf('since', since), limit }));
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
