import { z } from 'zod';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { openApiDocument } from './openapi-document.js';

/** @param others the routes that the document describes, besides its own */
export function openApiRoutes(others: readonly AdminRoute[], version: string): AdminRoute[] {
  const route = adminRoute({
    method: 'GET',
    path: '/openapi.json',
    right: null,
    tag: 'Description',
    summary: 'This description',
    answers: { 200: z.looseObject({ openapi: z.literal('3.1.0') }) },
    handle: async () => {
      document ??= openApiDocument([...others, route], version);
      return ok({ ...document, openapi: '3.1.0' as const });
    },
  });
  let document: ReturnType<typeof openApiDocument> | undefined;
  return [route];
}
