import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Metrics } from '../observe/metrics.js';

export interface AdminAppParts {
  readonly metrics: Pick<Metrics, 'contentType' | 'expose'>;
}

/** The app of the admin port. Everything here can be reached by a browser, so helmet guards it all. */
export function createAdminApp(parts: AdminAppParts): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(helmet());
  app.get('/metrics', async (_request, response) => {
    response.set('content-type', parts.metrics.contentType).send(await parts.metrics.expose());
  });
  return app;
}
