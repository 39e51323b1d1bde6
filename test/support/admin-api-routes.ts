import type { AdminServices } from '../../src/operations/admin/admin-services.js';
import { adminRoutes } from '../../src/operations/admin/api/admin-routes.js';

/** The routes of the admin API, for their declarations: only handling a request needs the other services. */
export const API_ROUTES = adminRoutes({
  sources: new Map(),
  self: { version: 'test' },
  facts: {},
} as unknown as AdminServices);
