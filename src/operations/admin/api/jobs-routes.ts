import { z } from 'zod';
import { jobFolder, kindOfPath } from '../../../archive/layout.js';
import { unknownJobText } from '../../../domain/job-state.js';
import { type ItemKind, STORED_TYPES } from '../../../domain/kinds.js';
import { Problem } from '../../../domain/problem.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { isKey } from '../../../store/object-key.js';
import type { ObjectInfo } from '../../../store/object-store.js';
import { otherPrefixesOf } from '../../actions/other-prefixes.js';
import { jobMatchesSchema, jobSchema, ticketSchema } from '../../answers/jobs.js';
import type { AdminServices } from '../admin-services.js';
import { findJobs } from '../jobs/find-jobs.js';
import { inspectJob } from '../jobs/inspect-job.js';
import { jobExtent } from '../jobs/job-extent.js';
import { type AdminRoute, adminRoute, ok } from './admin-route.js';
import { safeContentType, sendObject } from './content/download.js';
import { JOB } from './request-schemas.js';

const searchText = z.string().trim().min(1, 'is empty').max(256);

/** An artefact keeps its content type if a browser does not execute it. */
const ARTEFACT = {
  contentTypes: [...STORED_TYPES, 'audio/*', 'video/*', 'application/octet-stream'],
};

export function jobsRoutes(services: AdminServices): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/jobs',
      right: 'view',
      tag: 'Jobs',
      summary:
        'Jobs whose id or a value of whose context is this text, else contains it; newest first, at most 20',
      query: { text: searchText.describe('whole; also a part where it has at least 3 characters') },
      answers: { 200: jobMatchesSchema },
      async handle({ query, access: { scope } }) {
        await services.fresh();
        return ok(await findJobs(services, query.text, scope));
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/jobs/:id',
      right: 'view',
      tag: 'Jobs',
      summary: "A job's artefacts, its timeline and the service's own record",
      params: JOB,
      answers: { 200: jobSchema },
      problems: ['not-found'],
      async handle({ params, access: { scope } }) {
        const job = await inspectJob(services, params.id, scope);
        if (typeof job === 'string') throw new Problem('not-found', unknownJobText(job));
        return ok(job);
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/jobs/:id/artefacts/*path',
      right: 'read',
      tag: 'Jobs',
      summary: 'Download an artefact; supports ranges and If-None-Match',
      params: JOB,
      query: {
        ticket: z.string().optional().describe('in place of the token, from POST /jobs/{id}/ticket'),
      },
      ticket: true,
      answers: { 200: ARTEFACT, 206: ARTEFACT, 304: null },
      problems: ['not-found', 'range-not-satisfiable'],
      async handle({ params, request, response, access, peer }) {
        const info = await findArtefact(services, params.id, params.path ?? '', access.scope);
        if (info === null) throw new Problem('not-found', 'There is no such artefact.');
        const form = { contentType: safeContentType(info.contentType), fileName: fileNameOf(info) };
        const { metadata, key, size } = info;
        const item = { key, kind: kindOf(info, params.id), size, sha256: metadata.sha256 ?? '' };
        const read = { access, peer, jobId: params.id, source: metadata.source ?? null, item };
        await sendObject(services, info, form, () => services.accessLedger.read(read), request, response);
        return null;
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/jobs/:id/ticket',
      right: 'read',
      tag: 'Jobs',
      summary: "A ticket that opens the job's artefacts for an hour, for links",
      params: JOB,
      body: z.strictObject({}),
      answers: { 200: ticketSchema },
      problems: ['not-found'],
      async handle({ params, actor, access, peer }) {
        const { scope } = access;
        if (scope !== null && (await jobExtent(services, params.id, scope)) === 'none') {
          throw new Problem('not-found', 'This job is not known here.');
        }
        const source = scope?.size === 1 ? ([...scope][0] ?? null) : null;
        await services.accessLedger.read({ access, peer, jobId: params.id, source, item: null });
        return ok(await services.signIn.issueTicket(actor, params.id));
      },
    }),
  ];
}

/** `path` is the path below the job's folder, or a whole key as in the list of artefacts. */
async function findArtefact(
  services: AdminServices,
  jobId: string,
  path: string,
  scope: SourceScope,
): Promise<ObjectInfo | null> {
  if (path.split('/').some((segment) => segment === '' || segment.startsWith('.'))) return null;
  const findBelow = async (keyPrefixes: readonly string[]) => {
    for (const prefix of keyPrefixes) {
      const folder = jobFolder(prefix, jobId);
      const key = path.startsWith(folder) ? path : folder + path;
      // A path from a request may not be a valid key, for example because it is too long.
      const info = isKey(key) ? await services.store.head(key) : null;
      if (info !== null && isInScope(scope, info.metadata.source)) return info;
    }
    return null;
  };
  const found = await findBelow(services.keyPrefixes);
  if (found !== null) return found;
  await services.fresh();
  return findBelow(await otherPrefixesOf(services, jobId, scope));
}

function kindOf({ key }: ObjectInfo, jobId: string): ItemKind {
  const folder = jobFolder('', jobId);
  return kindOfPath(key.slice(key.indexOf(folder) + folder.length));
}

/** Starts with the job id, so that downloads of several jobs have different names. */
function fileNameOf({ key, metadata }: ObjectInfo): string {
  const original = metadata['file-name'];
  const name = original === undefined ? key.slice(key.lastIndexOf('/') + 1) : decoded(original);
  return `${metadata['job-id'] ?? 'job'}-${name}`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
