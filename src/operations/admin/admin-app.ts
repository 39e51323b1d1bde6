import express, { type Express, type Router } from 'express';
import helmet from 'helmet';
import { Problem } from '../../domain/problem.js';
import { respondProblem } from '../../lib/http/respond.js';
import type { Metrics } from '../../observe/metrics/metrics.js';
import { isOwnHost } from './access/own-host.js';
import type { AdminSettings } from './admin-services.js';

const DRAIN = { bytes: 64 * 1024, ms: 1000 };

/** The app of the admin port: metrics, the API, the dashboard. */
export function createAdminApp(
  api: Router,
  metrics: Pick<Metrics, 'contentType' | 'expose'>,
  { hosts, page }: Pick<AdminSettings, 'hosts' | 'page'>,
): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).enable('case sensitive routing');
  app.use(guard());
  // Metrics need no token, so a page could read them by DNS rebinding.
  app.get('/metrics', async (request, response) => {
    if (!isOwnHost(request.headers.host, hosts)) {
      const problem = new Problem(
        'host-unknown',
        'Use an address, an internal name, or a name in admin.hosts.',
      );
      return respondProblem(request, response, problem, DRAIN, false, {});
    }
    response.set('content-type', metrics.contentType).send(await metrics.expose());
  });
  app.all('/metrics', (request, response) => {
    const problem = new Problem('method-not-allowed', 'Use GET.');
    respondProblem(request, response, problem, DRAIN, false, { allow: 'GET, HEAD' });
  });
  app.use('/admin/api', api);
  app.use(express.static(page, { redirect: false, setHeaders: (response) => response.set(PAGE_CACHING) }));
  app.use((request, response) => {
    const problem = new Problem('not-found', 'There is nothing at this path.');
    respondProblem(request, response, problem, DRAIN, false, {});
  });
  return app;
}

/** Browsers revalidate every file, so that an upgrade never mixes two versions of the page. */
const PAGE_CACHING = { 'cache-control': 'no-cache' };

/** The page loads everything from this origin and shows untrusted text: no other origin, nothing inline, no framing. */
function guard() {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // HSTS would hold for all ports of the host.
    strictTransportSecurity: false,
  });
}
