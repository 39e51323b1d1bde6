import { z } from 'zod';
import { Problem } from '../../../../domain/problem.js';
import { isInScope } from '../../../../domain/rights.js';
import { peerAddress } from '../../../../lib/text/ip-address.js';
import { importArtefacts } from '../../../actions/import/import-artefacts.js';
import { takenSchema } from '../../../answers/jobs.js';
import type { AdminServices } from '../../admin-services.js';
import { type AdminRequest, type AdminRoute, adminRoute, ok } from '../admin-route.js';
import { JOB } from '../request-schemas.js';
import { FORM_OVERHEAD, openImportForm } from './import-form.js';

/** Imports at a time; each may hold memory that callbacks then lack. */
const IMPORTS_AT_ONCE = 16;

const file = z.string().meta({ contentMediaType: 'application/octet-stream' });
const importForm = z
  .object({
    source: z.string().optional(),
    kind: z.string().optional().describe('of all files of the form'),
    status: z.string().optional(),
    context: z.string().optional().describe('as in a callback URL: `call=123&customer=A-7`'),
    otherJob: z
      .literal('true')
      .optional()
      .describe('also take transcripts and job records that name another job'),
    reason: z.string().optional(),
    file: file.optional(),
  })
  .catchall(file)
  .describe(
    'source, kind, status, context and otherJob come before the files; a file is named by its kind, or by `file`',
  );

export function importRoutes(services: AdminServices): AdminRoute[] {
  const largest = Math.max(0, ...[...services.sources.values()].map(({ maxBytes }) => maxBytes));
  let inFlight = 0;
  return [
    adminRoute({
      method: 'POST',
      path: '/jobs/:id/artefacts',
      right: 'repair',
      tag: 'Jobs',
      summary: 'Import files; nothing is stored unless the whole form is accepted',
      params: JOB,
      form: importForm,
      answers: { 200: takenSchema },
      problems: ['not-found', 'body-malformed', 'body-too-slow', 'body-too-large', 'overloaded', 'conflict'],
      async handle({ params, request, response, actor, peer, access: { scope } }) {
        refuseEarly(request, largest);
        if (inFlight >= IMPORTS_AT_ONCE) {
          throw new Problem(
            'overloaded',
            `${IMPORTS_AT_ONCE} imports are in flight here already; try again.`,
          );
        }
        inFlight += 1;
        try {
          const form = openImportForm(request, response, { ...services, maxFileBytes: largest });
          const sources = new Map([...services.sources].filter(([name]) => isInScope(scope, name)));
          return ok(
            await importArtefacts({ ...services, sources }, form, {
              jobId: params.id,
              actor,
              clientIp: peerAddress(peer),
            }),
          );
        } finally {
          inFlight -= 1;
        }
      },
    }),
  ];
}

/** Throws before anything of the body is read. */
function refuseEarly(request: AdminRequest['request'], largest: number): void {
  if (!/^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Problem('request-invalid', 'Files are sent as multipart/form-data.');
  }
  if (Number(request.headers['content-length'] ?? 0) > largest + FORM_OVERHEAD) {
    throw new Problem('body-too-large', `No source accepts more than ${largest} bytes.`);
  }
}
