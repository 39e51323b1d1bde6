import type { Express } from 'express';

/** The paths of `mountHealth`, which accept only GET and HEAD. */
export const HEALTH_PATH = /^\/(?:healthz|readyz)\/?$/;

export interface Readiness {
  readonly ready: boolean;
  /** Why the process is not ready; null when it is. */
  readonly reason: string | null;
  /** A code for `reason`, such as `clock` or `denied`; null when it has none. */
  readonly cause?: string | null;
}

/**
 * `/healthz`: the process is alive. `/readyz`: it accepts callbacks, because everything that a callback needs was proven recently, and it
 * is not shutting down. Overload does not affect readiness: it is a 503 on the callback. Both are public and therefore show only a code
 * for the cause; the reason (store errors, host names) is shown on the admin port.
 */
export function mountHealth(app: Express, readiness: () => Readiness): void {
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', (_request, response) => {
    const { ready, cause = null } = readiness();
    if (ready) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'not ready', ...(cause !== null && { cause }) });
  });
}
