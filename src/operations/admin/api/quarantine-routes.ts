import { z } from 'zod';
import { UNDECODABLE_REASONS } from '../../../archive/content/decode-error.js';
import { quarantineFolder } from '../../../archive/layout.js';
import type { QuarantinedRequest } from '../../../archive/quarantine/quarantine.js';
import type { QuarantineStore } from '../../../archive/quarantine/quarantine-store.js';
import { QUARANTINE_STATES } from '../../../domain/quarantined-body.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { bodyOf } from '../../../index/bodies/list-bodies.js';
import { rejectUnknownNames } from '../../../index/questions/filter-names.js';
import { previewOf } from '../../actions/decode-quarantined.js';
import { unknownBody } from '../../actions/release-body.js';
import { quarantinedBodyViewSchema, quarantineSchema } from '../../answers/quarantine.js';
import type { ContentRead } from '../access/access-ledger.js';
import type { AdminServices } from '../admin-services.js';
import { bodyState, listQuarantine } from '../jobs/list-quarantine.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { sendObject } from './content/download.js';
import { jobFilter, lineFilters, page } from './request-schemas.js';

export function quarantineRoutes({
  quarantine,
  trial,
  names,
  view,
  fresh,
  retained,
  store,
  downloads,
  accessLedger,
}: AdminServices): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/quarantine',
      right: 'view',
      tag: 'Quarantine',
      summary: 'Undecodable bodies, newest first',
      query: {
        state: z.enum([...QUARANTINE_STATES, 'all']).default('waiting'),
        job: jobFilter,
        ...lineFilters(['source', 'region']),
        reason: z.enum(UNDECODABLE_REASONS).optional().describe('why it could not be decoded'),
        ...page(50),
      },
      answers: { 200: quarantineSchema },
      async handle({ query, access: { scope }, signal }) {
        await rejectUnknownNames({ source: query.source, region: query.region }, names, view, scope);
        await fresh();
        return ok(await listQuarantine({ view, quarantine, retained }, { ...query, scope, signal }));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/quarantine/:id',
      right: 'read',
      tag: 'Quarantine',
      summary: 'One body: its request, its beginning, and whether the current decoder accepts it',
      answers: { 200: quarantinedBodyViewSchema },
      problems: ['not-found'],
      async handle({ params: { id = '' }, access, peer }) {
        const request = await quarantinedRequest(quarantine, id, access.scope);
        await fresh();
        const known = await bodyOf(view, id);
        const state = bodyState(known ?? { state: 'waiting', release: null, settlement: null });
        const seen = await quarantine.withBody(id, async (body) => {
          if (body === null) throw unknownBody();
          await accessLedger.read(readOf(request, id, body.length, { access, peer }));
          return { ...request, preview: previewOf(body), decodes: await trial(request, body) };
        });
        return ok({ ...seen, ...state });
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/quarantine/:id/body',
      right: 'read',
      tag: 'Quarantine',
      summary: 'Download the raw body',
      answers: {
        200: { contentTypes: ['application/octet-stream'] },
        206: { contentTypes: ['application/octet-stream'] },
        304: null,
      },
      problems: ['not-found', 'range-not-satisfiable'],
      async handle({ params: { id = '' }, request, response, access, peer }) {
        const known = await quarantinedRequest(quarantine, id, access.scope);
        const info = await quarantine.bodyInfo(id);
        if (info === null) throw unknownBody();
        const form = { contentType: 'application/octet-stream', fileName: `${id}-body` };
        const read = readOf(known, id, info.size, { access, peer });
        await sendObject({ store, downloads }, info, form, () => accessLedger.read(read), request, response);
        return null;
      },
    }),
  ];
}

/** Access to a body; recorded as `attachment`, because an undecodable body has no kind. */
function readOf(
  { jobId, source, sha256 }: QuarantinedRequest,
  id: string,
  size: number,
  by: Pick<ContentRead, 'access' | 'peer'>,
): ContentRead {
  const item = {
    key: `${quarantineFolder(id)}body`,
    kind: 'attachment',
    size,
    sha256: sha256 ?? '',
  } as const;
  return { ...by, jobId, source, item };
}

/** The request of a body. Rejects with `not-found` also when the client may not see its source. */
export async function quarantinedRequest(
  quarantine: Pick<QuarantineStore, 'request'>,
  id: string,
  scope: SourceScope,
): Promise<QuarantinedRequest> {
  const request = await quarantine.request(id);
  if (request === null || !isInScope(scope, request.source)) throw unknownBody();
  return request;
}
