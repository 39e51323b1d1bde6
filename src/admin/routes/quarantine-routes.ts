import { z } from 'zod';
import { Problem } from '../../domain/problem.js';
import { type AdminRoute, ok } from '../admin-route.js';
import { contentDisposition } from '../download.js';
import { checkNames, type KnownNames } from '../filter-names.js';
import type { LedgerView } from '../ledger-view.js';
import { listQuarantine } from '../quarantine-list.js';
import type { QuarantineShelf } from '../quarantine-shelf.js';
import { previewOf, type TrialDecoder } from '../quarantine-view.js';
import { cursorText, readQuery, text, whole } from '../read-input.js';

export interface QuarantineRouteParts {
  readonly names: KnownNames;
  readonly view: Pick<LedgerView, 'holds'>;
  readonly shelf: QuarantineShelf;
  /** Says whether today's decoder takes a body. */
  readonly trial: TrialDecoder;
}

const LIST_QUERY = z.strictObject({
  state: z.enum(['waiting', 'released', 'all']).optional(),
  job: text.optional(),
  source: text.optional(),
  region: text.optional(),
  reason: text.optional(),
  limit: whole(1, 500).optional(),
  cursor: cursorText.optional(),
});
const NOTHING = z.strictObject({});

export function quarantineRoutes({ shelf, trial, names, view }: QuarantineRouteParts): AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/quarantine',
      async handle({ query }) {
        const { state, reason, job, limit, cursor, ...filters } = readQuery(LIST_QUERY, query);
        checkNames(filters, names, view);
        return ok(await listQuarantine(shelf, { state, reason, job, limit, cursor, ...filters }));
      },
    },
    {
      method: 'GET',
      path: '/quarantine/:id',
      async handle({ params: { id = '' }, query }) {
        readQuery(NOTHING, query);
        const [request, body, release] = await Promise.all([
          shelf.request(id),
          shelf.body(id),
          shelf.release(id),
        ]);
        if (request === null || body === null) throw unknownBody();
        const state = release === null ? 'waiting' : 'released';
        return ok({
          ...request,
          state,
          release,
          preview: previewOf(body),
          decodes: await trial(request, body),
        });
      },
    },
    {
      method: 'GET',
      path: '/quarantine/:id/body',
      async handle({ params: { id = '' }, query, response }) {
        readQuery(NOTHING, query);
        const body = await shelf.body(id);
        if (body === null) throw unknownBody();
        response.writeHead(200, {
          'content-type': 'application/octet-stream',
          'content-length': body.length,
          'content-disposition': contentDisposition(`${id}-body`),
          'content-security-policy': "default-src 'none'; sandbox",
        });
        response.end(body);
        return null;
      },
    },
  ];
}

export function unknownBody(): Problem {
  return new Problem('not-found', 'Nothing of this id is in quarantine.');
}
