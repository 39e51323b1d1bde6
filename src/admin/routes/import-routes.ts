import multer from 'multer';
import { Problem } from '../../domain/problem.js';
import { type AdminCall, type AdminRoute, ok } from '../admin-route.js';
import { type ImportForm, type ImportParts, importArtefacts } from '../import-artefacts.js';
import { fieldsOf, formOptions, readForm } from '../read-form.js';
import { jobIdOf } from './jobs-routes.js';

export type ImportRouteParts = ImportParts;

/** What the form may take around its files. */
const FORM_OVERHEAD = 256 * 1024;

export function importRoutes(parts: ImportRouteParts): AdminRoute[] {
  const largest = Math.max(0, ...[...parts.sources.values()].map(({ maxBytes }) => maxBytes));
  return [
    {
      method: 'POST',
      path: '/jobs/:id/artefacts',
      takes: 'form',
      async handle(call) {
        const jobId = jobIdOf(call.params);
        refuseAtOnce(call, largest);
        const clientIp = call.request.socket.remoteAddress ?? null;
        return ok(
          await importArtefacts(parts, multerForm(call, largest), { jobId, actor: call.actor, clientIp }),
        );
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

function multerForm({ request, response }: AdminCall, maxFileBytes: number): ImportForm {
  return {
    fields: () => fieldsOf(request),
    async read(taker) {
      let nameless = false;
      const options = formOptions(taker, { maxFileBytes }, () => {
        nameless = true;
      });
      await readForm(multer(options).any(), request, response);
      if (nameless) throw new Problem('request-invalid', 'Every file needs a file name.');
    },
  };
}
