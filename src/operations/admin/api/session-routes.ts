import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { sessionSchema } from './answers/session.js';

interface SessionRouteParts {
  readonly service: { readonly configured: boolean };
}

export function sessionRoutes({ service }: SessionRouteParts): AdminRoute[] {
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
