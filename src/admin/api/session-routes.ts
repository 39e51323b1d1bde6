import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { sessionSchema } from './answers/session.js';

export function sessionRoutes(): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/session',
      right: null,
      tag: 'Security',
      summary: 'What the presented token may do',
      answers: { 200: sessionSchema },
      async handle({ access: { actor, may, scope } }) {
        return ok({ actor, may: [...may], sources: scope === null ? null : [...scope].sort() });
      },
    }),
  ];
}
