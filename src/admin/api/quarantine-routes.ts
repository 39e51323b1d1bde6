import { z } from 'zod';
import type { QuarantineShelf } from '../../archive/quarantine/quarantine-store.js';
import { Problem } from '../../domain/problem.js';
import { checkNames, type KnownNames } from '../../ledger-view/filter-names.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import { previewOf, type TrialDecoder } from '../../repair/quarantine-view.js';
import type { ObjectStore } from '../../store/object-store.js';
import { cursorText, readQuery, text, whole } from '../../text/read-input.js';
import { listQuarantine } from '../jobs/quarantine-list.js';
import { type AdminRoute, ok } from './admin-route.js';
import { sendObject } from './download.js';
import type { DownloadGate } from './download-gate.js';

export interface QuarantineRouteParts {
  readonly store: ObjectStore;
  readonly downloads: DownloadGate;
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

export function quarantineRoutes({
  shelf,
  trial,
  names,
  view,
  store,
  downloads,
}: QuarantineRouteParts): AdminRoute[] {
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
        const [request, release] = await Promise.all([shelf.request(id), shelf.release(id)]);
        const state = release === null ? 'waiting' : 'released';
        const seen = await shelf.withBody(id, async (body) => {
          if (request === null || body === null) throw unknownBody();
          return { preview: previewOf(body), decodes: await trial(request, body) };
        });
        return ok({ ...request, state, release, ...seen });
      },
    },
    {
      method: 'GET',
      path: '/quarantine/:id/body',
      async handle({ params: { id = '' }, query, request, response }) {
        readQuery(NOTHING, query);
        const info = await shelf.bodyInfo(id);
        if (info === null) throw unknownBody();
        const form = { contentType: 'application/octet-stream', fileName: `${id}-body` };
        await sendObject({ store, downloads }, info, form, request, response);
        return null;
      },
    },
  ];
}

export function unknownBody(): Problem {
  return new Problem('not-found', 'Nothing of this id is in quarantine.');
}
