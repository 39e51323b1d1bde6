import type { Express } from 'express';

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready; null when it is. */
  readonly reason: string | null;
}

/**
 * `/healthz`: the process is alive. `/readyz`: it accepts callbacks, because the store was proven writable recently and it
 * is not shutting down. Overload does not affect readiness: it is a 503 on the callback. Both are public, so the reason
 * (store errors, host names) is shown on the admin port only.
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
