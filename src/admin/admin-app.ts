import { fileURLToPath } from 'node:url';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { Problem } from '../domain/problem.js';
import type { Metrics } from '../observe/metrics.js';
import { respondProblem } from '../receiver/http/respond.js';
import { isOwnHost } from './access/own-host.js';
import type { CertificateStatus } from './admin-certificate.js';
import { type AdminRouterOptions, createAdminRouter } from './admin-router.js';

export interface AdminAppParts extends AdminRouterOptions {
  readonly metrics: Pick<Metrics, 'contentType' | 'expose'>;
  /** Host names of the port, besides addresses and internal names. */
  readonly hosts: readonly string[];
  /** State of the port's certificate; null without TLS. */
  readonly certificate: (() => CertificateStatus) | null;
}

const PAGE = fileURLToPath(new URL('../dashboard/', import.meta.url));
const DRAIN = { bytes: 64 * 1024, ms: 1000 };

/** The app of the admin port: metrics, the API, the dashboard. */
export function createAdminApp(parts: AdminAppParts): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).enable('case sensitive routing');
  app.use(guard());
  if (parts.certificate !== null) app.use(requireHttps(parts.hosts));
  // Metrics need no token, so that a page could read them by DNS rebinding.
  app.get('/metrics', async (request, response) => {
    if (!isOwnHost(request.headers.host, parts.hosts)) {
      const problem = new Problem(
        'host-unknown',
        'Use an address, an internal name, or a name in admin.hosts.',
      );
      return respondProblem(request, response, problem, DRAIN, false, {});
    }
    response.set('content-type', parts.metrics.contentType).send(await parts.metrics.expose());
  });
  app.use('/admin/api', createAdminRouter(parts));
  app.use(express.static(PAGE, { redirect: false, setHeaders: (response) => response.set(PAGE_CACHING) }));
  app.use((request, response) => {
    const problem = new Problem('not-found', 'There is nothing at this path.');
    respondProblem(request, response, problem, DRAIN, false, {});
  });
  return app;
}

/**
 * HSTS holds for a host with all its ports. So only names that the operator gave to this port get it, never an address or
 * `localhost`, where it would lock out others.
 */
function requireHttps(hosts: readonly string[]): RequestHandler {
  return ({ headers }, response, next) => {
    const name = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '');
    if (hosts.some((own) => own.toLowerCase() === name)) {
      response.setHeader('strict-transport-security', 'max-age=31536000');
    }
    next();
  };
}

/** Browsers revalidate every file, so that an upgrade never mixes two versions of the page. */
const PAGE_CACHING = { 'cache-control': 'no-cache' };

/**
 * The page loads everything from this origin and shows untrusted text: no other origin, nothing inline, no framing.
 * HSTS is added for names of the port's own.
 */
function guard() {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        mediaSrc: ["'self'", 'blob:'],
        connectSrc: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: false,
  });
}
