import { sessionSchema } from '../../answers/session.js';
import type { AdminServices } from '../admin-services.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { importRoutes } from './content/import-routes.js';
import { deliveriesRoutes } from './deliveries-routes.js';
import { explainRoutes } from './explain-routes.js';
import { failuresRoutes } from './failures-routes.js';
import { healthRoutes } from './health-routes.js';
import { jobsRoutes } from './jobs-routes.js';
import { openApiRoutes } from './openapi-routes.js';
import { quarantineRoutes } from './quarantine-routes.js';
import { reconcileRoutes } from './repairs/reconcile-routes.js';
import { repairRoutes } from './repairs/repair-routes.js';
import { replaysRoutes } from './repairs/replays-routes.js';
import { subscribersRoutes } from './subscribers-routes.js';
import { summaryRoutes } from './summary-routes.js';

/** Everything below `/admin/api`. */
export function adminRoutes(services: AdminServices): AdminRoute[] {
  const routes = [
    ...healthRoutes(services),
    ...deliveriesRoutes(services),
    ...summaryRoutes(services),
    ...failuresRoutes(services),
    ...jobsRoutes(services),
    ...quarantineRoutes(services),
    ...repairRoutes(services),
    ...reconcileRoutes(services),
    ...replaysRoutes(services),
    ...subscribersRoutes(services),
    ...importRoutes(services),
    ...explainRoutes(services),
    ...sessionRoutes(services.service),
  ];
  return [...routes, ...openApiRoutes(routes, services.self.version)];
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
