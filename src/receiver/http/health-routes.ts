import type { Express } from 'express';

export interface Readiness {
  readonly ready: boolean;
  /** Why not, in words; null when ready. */
  readonly reason: string | null;
}

/**
 * `/healthz`: the process is alive. `/readyz`: it may be sent callbacks, because the store was proven writable
 * recently and it is not shutting down. Overload is not a lack of readiness: it is a 503 on the callback. Anybody can ask,
 * so the reason (store errors, names of machines) is told on the admin port only.
 */
export function mountHealth(app: Express, readiness: () => Readiness): void {
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', (_request, response) => {
    const { ready } = readiness();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not ready' });
  });
}
