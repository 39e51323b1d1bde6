import { Problem } from '../../domain/problem.js';
import type { BodyClock } from '../../receiver/http/request-body.js';
import { type ImportParts, importArtefacts } from '../../repair/import-artefacts.js';
import { type AdminCall, type AdminRoute, ok } from './admin-route.js';
import { FORM_OVERHEAD, type ImportFormOptions, openImportForm } from './import-form.js';
import { jobIdOf } from './jobs-routes.js';

export interface ImportRouteParts extends ImportParts {
  readonly bodyClock: BodyClock;
  readonly limits: ImportFormOptions['limits'];
  readonly draining: () => boolean;
}

/** Imports at a time; each may hold a part of memory that callbacks then have to do without. */
const IMPORTS_AT_ONCE = 16;

export function importRoutes(parts: ImportRouteParts): AdminRoute[] {
  const largest = Math.max(0, ...[...parts.sources.values()].map(({ maxBytes }) => maxBytes));
  let underWay = 0;
  return [
    {
      method: 'POST',
      path: '/jobs/:id/artefacts',
      takes: 'form',
      async handle(call) {
        const jobId = jobIdOf(call.params);
        refuseAtOnce(call, largest);
        if (underWay >= IMPORTS_AT_ONCE) {
          throw new Problem(
            'overloaded',
            `${IMPORTS_AT_ONCE} imports are under way here already; try again.`,
          );
        }
        underWay += 1;
        try {
          const { request, response, actor } = call;
          const form = openImportForm(request, response, { ...parts, maxFileBytes: largest });
          const clientIp = request.socket.remoteAddress ?? null;
          return ok(await importArtefacts(parts, form, { jobId, actor, clientIp }));
        } finally {
          underWay -= 1;
        }
      },
    },
  ];
}

/** Before anything of the body is read. */
function refuseAtOnce({ request }: AdminCall, largest: number): void {
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Problem('request-invalid', 'Files are sent as multipart/form-data.');
  }
  if (Number(request.headers['content-length'] ?? 0) > largest + FORM_OVERHEAD) {
    throw new Problem('body-too-large', `No source accepts more than ${largest} bytes.`);
  }
}
