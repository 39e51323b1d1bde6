import type { AdminServices } from '../../src/operations/admin/admin-services.js';
import { adminRoutes } from '../../src/operations/admin/api/admin-routes.js';

/** The routes of the admin API, for what they declare: making them takes no more than this, handling a request takes the rest. */
export const API_ROUTES = adminRoutes({
  sources: new Map(),
  self: { version: 'test' },
  facts: {},
} as unknown as AdminServices);
