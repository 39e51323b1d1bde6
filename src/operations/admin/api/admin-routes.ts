import { sessionSchema } from '../../answers/session.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { type ImportRouteParts, importRoutes } from './content/import-routes.js';
import { type DeliveriesRouteParts, deliveriesRoutes } from './deliveries-routes.js';
import { type ExplainRouteParts, explainRoutes } from './explain-routes.js';
import { type FailuresRouteParts, failuresRoutes } from './failures-routes.js';
import { type HealthRouteParts, healthRoutes } from './health-routes.js';
import { type JobsRouteParts, jobsRoutes } from './jobs-routes.js';
import { openApiRoutes } from './openapi-routes.js';
import { type QuarantineRouteParts, quarantineRoutes } from './quarantine-routes.js';
import { type ErasuresRouteParts, erasuresRoutes } from './repairs/erasures-routes.js';
import { type ReconcileRouteParts, reconcileRoutes } from './repairs/reconcile-routes.js';
import { type RepairRouteParts, repairRoutes } from './repairs/repair-routes.js';
import { type ReplaysRouteParts, replaysRoutes } from './repairs/replays-routes.js';
import { type SubscribersRouteParts, subscribersRoutes } from './subscribers-routes.js';

export type AdminRouteParts = {
  readonly version: string;
  readonly health: HealthRouteParts;
} & DeliveriesRouteParts &
  FailuresRouteParts &
  JobsRouteParts &
  QuarantineRouteParts &
  RepairRouteParts &
  ReconcileRouteParts &
  ReplaysRouteParts &
  SubscribersRouteParts &
  ImportRouteParts &
  ErasuresRouteParts &
  ExplainRouteParts;

/** Everything below `/admin/api`. */
export function adminRoutes(parts: AdminRouteParts): AdminRoute[] {
  const routes = [
    ...healthRoutes(parts.health),
    ...deliveriesRoutes(parts),
    ...failuresRoutes(parts),
    ...jobsRoutes(parts),
    ...quarantineRoutes(parts),
    ...repairRoutes(parts),
    ...reconcileRoutes(parts),
    ...replaysRoutes(parts),
    ...subscribersRoutes(parts),
    ...importRoutes(parts),
    ...erasuresRoutes(parts),
    ...explainRoutes(parts),
    ...sessionRoutes(parts.service),
  ];
  return [...routes, ...openApiRoutes(routes, parts.version)];
}

function sessionRoutes(service: { readonly configured: boolean }): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/session',
      right: null,
      tag: 'Security',
      summary: 'What the presented token may do',
      answers: { 200: sessionSchema },
      async handle({ access: { actor, may, scope } }) {
        const sources = scope === null ? null : [...scope].sort();
        return ok({ actor, may: [...may], sources, canAskService: service.configured });
      },
    }),
  ];
}
