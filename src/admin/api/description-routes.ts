import { z } from 'zod';
import { readQuery } from '../../text/read-input.js';
import { type AdminRoute, ok } from './admin-route.js';
import { describeApi } from './openapi/description.js';

export function descriptionRoutes({ version }: { readonly version: string }): AdminRoute[] {
  const description = describeApi(version);
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      async handle({ query }) {
        readQuery(z.strictObject({}), query);
        return ok(description);
      },
    },
  ];
}
